// How the server is, and whether it still answers. What is shown grows old by the clock of
// the browser: a server that is silent cannot say so itself.
import { fixedText } from './format.mjs';

const patience = 12_000; // milliseconds without an answer; the page asks every five seconds

/** healthText says in a line how the server is. */
export function healthText(h) {
  const parts = [h.status === 'ok' ? 'Running' : 'Needs its owner', `bars from ${h.source}`];
  const where = h.broker ? `${h.money === 'real' ? 'REAL MONEY at ' : ''}${h.broker}, account ${h.account}:` : 'paper trading';
  if (h.trade) parts.push(`${where} ${h.trading}`, `journal ${h.journal}`);
  return [...parts, h.version].join(' · ');
}

/** ageText says how old the prices are, so many milliseconds after the server told. */
export const ageText = (h, since) => (h.feed_age_seconds === undefined ? '' : ` · prices ${fixedText(h.feed_age_seconds + since / 1000, 0)} s old`);

/** isSilent reports whether the last answer is so many milliseconds old that the server, or
 * the way to it, must have stopped. */
export const isSilent = since => since > patience;

/** silentText says since when there is no answer. */
export const silentText = heard => `No answer from wick since ${new Date(heard).toLocaleTimeString('sv')}: what is shown is from then.`;
