// How answers of tools are read, and what it means that one is missing.

/** unanswered returns an error of which nobody knows whether what was asked for was done. */
export const unanswered = text => Object.assign(new Error(text), { unanswered: true });

/** textOf returns the first text of a tool's result. If the tool failed, it throws an error
 * with that text, and with the code that the engine's refusals begin with. */
export function textOf(result) {
  const text = (result?.content ?? []).find(c => c.type === 'text')?.text ?? '';
  if (!result?.isError) return text;
  throw Object.assign(new Error(text.slice(0, 500) || 'the tool failed'), { code: /^(currency|[a-z]+_[a-z_]+): /.exec(text)?.[1] });
}
