// How the server is, and whether it still answers. What is shown grows old by the clock of
// the browser: a server that is silent cannot say so itself.
import { fixedText } from './format.mjs';
import { t, word } from './texts.mjs';

const patience = 12_000; // milliseconds without an answer; the page asks every five seconds

/** healthText says in a line how the server is. */
export function healthText(h) {
  const parts = [h.status === 'ok' ? t('Running') : t('Needs its owner'), t('bars from {0}', h.source)];
  const where = h.broker ? (h.money === 'real' ? t('REAL MONEY at {0}, account {1}:', h.broker, h.account) : t('{0}, account {1}:', h.broker, h.account)) : t('paper trading');
  if (h.trade) parts.push(`${where} ${word(h.trading)}`, t('journal {0}', word(h.journal)));
  return [...parts, h.version].join(' · ');
}

/** ageText says how old the prices are, so many milliseconds after the server told. */
export const ageText = (h, since) => (h.feed_age_seconds === undefined ? '' : ' · ' + t('prices {0} s old', fixedText(h.feed_age_seconds + since / 1000, 0)));

/** isSilent reports whether the last answer is so many milliseconds old that the server, or
 * the way to it, must have stopped. */
export const isSilent = since => since > patience;

/** silentText says since when there is no answer. */
export const silentText = heard => t('No answer from wick since {0}: what is shown is from then.', new Date(heard).toLocaleTimeString('sv'));
