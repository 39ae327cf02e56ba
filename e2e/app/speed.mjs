export async function speed() {}
