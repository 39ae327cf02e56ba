export async function chatChecks() {}
