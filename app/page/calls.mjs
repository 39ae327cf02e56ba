// Calls of tools: how answers are read, what a missing one means, and calls that must not be carried out twice.
import { recall, remember } from './store.mjs';

/** unanswered returns an error of which nobody knows whether what was asked for was done. */
export const unanswered = text => Object.assign(new Error(text), { unanswered: true });

/** textOf returns the first text of a tool's result. If the tool failed, it throws an error with the code that the
 * engine's refusals begin with, and with what say makes of text and code. */
export function textOf(result, say = text => text) {
  const text = (result?.content ?? []).find(c => c.type === 'text')?.text ?? '';
  if (!result?.isError) return text;
  const code = /^(currency|[a-z]+_[a-z_]+): /.exec(text)?.[1];
  throw Object.assign(new Error(say(text.slice(0, 500) || 'the tool failed', code)), { code });
}

const store = 'wick-calls';
const longestDoubt = 7 * 86_400_000; // milliseconds; the server knows the ids of orders for ever
const mostCalls = 50; // that are kept, the newest

const calls = () => Object.fromEntries(Object.entries(recall(store, {})).filter(([, call]) => Date.now() - call?.at < longestDoubt));

/** keep writes down a call, or forgets it. */
function keep(key, call) {
  const { [key]: _, ...others } = calls();
  const all = Object.entries(call ? { ...others, [key]: call } : others);
  remember(store, Object.fromEntries(all.slice(-mostCalls)));
}

/** keyOf names a call: by its tool, its arguments, and what else it is about. */
const keyOf = (tool, args, about) => JSON.stringify([tool, args, about]);

/** isDoubtful reports whether the answer to such a call was lost. */
export const isDoubtful = (tool, args, about) => Boolean(calls()[keyOf(tool, args, about)]?.doubtful);

/** newID returns an id for a call. crypto.randomUUID is missing in frames of hosts without TLS. */
export const newID = () => 'page-' + Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, '0')).join('');

/** once calls a tool that takes an id under that name, and returns its answer. Only that, or a refusal by the engine,
 * ends a doubt; after anything else the next such call has the same id, which is in the error. about tells apart calls
 * with equal arguments. id is that of an earlier attempt, of which another tab may have had the answer. */
export async function once(transport, tool, args, name, { about, id } = {}) {
  const key = keyOf(tool, args, about);
  const before = calls()[key];
  const call = { id: before?.id ?? id ?? newID(), at: Date.now() };
  const settle = next => calls()[key]?.id === call.id && keep(key, next);
  keep(key, { ...call, doubtful: true }); // before it is sent
  const text = await transport.call(tool, { ...args, [name]: call.id }).catch(err => {
    if (err.code) settle(); // the engine refused: the order was not made. What stands before it says nothing of an earlier attempt
    else if (!err.unanswered && !before?.doubtful) settle(call);
    throw Object.assign(err, { id: call.id });
  });
  const reply = JSON.parse(text);
  settle();
  return reply;
}
