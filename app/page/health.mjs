// How the server is, whether it still answers, and the button that halts trading. What is shown grows old by the
// clock of the browser: a server that is silent cannot say so itself.
import { el, workButton } from './dom.mjs';
import { fixedText } from './format.mjs';
import { t, word } from './texts.mjs';

const patience = 12_000; // milliseconds without an answer; the page asks every five seconds
const armedPeriod = 8000; // milliseconds for which a first press counts

/** healthText says in a line how the server is. */
export function healthText(h) {
  const parts = [h.status === 'ok' ? t('Running') : t('Needs its owner'), t('bars from {0}', h.source)];
  const where = h.broker ? (h.money === 'real' ? t('REAL MONEY at {0}, account {1}:', h.broker, h.account) : t('{0}, account {1}:', h.broker, h.account)) : t('paper trading');
  if (h.trade) parts.push(`${where} ${word(h.trading)}`, t('journal {0}', word(h.journal)));
  return [...parts, h.version].join(' · ');
}

/** ageText says how old the prices are, so many milliseconds after the server told. */
export const ageText = (h, since) => (h.feed_age_seconds === undefined ? '' : ' · ' + t('prices {0} s old', fixedText(h.feed_age_seconds + since / 1000, 0)));

/** isSilent reports whether the last answer is so many milliseconds old that the server, or the way to it, must have
 * stopped; silentText says since when. */
export const isSilent = since => since > patience;
export const silentText = heard => t('No answer from wick since {0}: what is shown is from then.', new Date(heard).toLocaleTimeString('sv'));

/** healthLine says in the top row how the server is, how old that is, and since when it is silent. Its ask asks the
 * server and tells heard; the age grows by itself. A page that was hidden asked nothing, so silence counts from when
 * it is seen again. */
export function healthLine(wire, heard) {
  const [line, state, age, toasts] = ['health', 'state', 'age', 'toasts'].map(id => document.getElementById(id));
  const silence = el('p', { class: 'toast' });
  const { signal } = wire.gone;
  let [said, seen, wrong] = [undefined, Date.now(), ''];
  const show = () => {
    if (signal.aborted) return;
    const silent = isSilent(Date.now() - Math.max(wire.heard, seen));
    const text = silent ? silentText(wire.heard) : wrong || (said ? healthText(said.h) : '');
    line.classList.toggle('silent', silent);
    if (state.textContent !== text) state.textContent = text; // readers hear each change
    age.textContent = said ? ageText(said.h, Date.now() - said.at) : '';
    line.title = line.textContent;
    if (silent && !silence.isConnected) toasts.append(Object.assign(silence, { textContent: text }));
    if (!silent) silence.remove();
  };
  const ask = async () => {
    try {
      said = { h: await wire.owner('health'), at: Date.now() };
      wrong = '';
      heard(said.h);
    } catch (err) {
      wrong = err.message;
    }
    show();
  };
  const timer = setInterval(show, 1000);
  signal.addEventListener('abort', () => {
    clearInterval(timer);
    silence.remove();
    for (const part of [state, age]) part.textContent = '';
  });
  document.addEventListener('visibilitychange', () => {
    seen = Date.now();
    if (!document.hidden) ask();
  }, { signal });
  return { ask };
}

/** haltButton returns the button that halts or resumes trading with its second press, and show, which is told whether
 * trading is halted. A first press counts for a few seconds. */
export function haltButton(wire, say, ask) {
  let [halted, armed] = [false, 0];
  const name = () => { element.textContent = (armed ? [t('Really halt'), t('Really resume')] : [t('Halt trading'), t('Resume trading')])[Number(halted)]; };
  const rest = () => {
    clearTimeout(armed);
    armed = 0;
    name();
  };
  const element = workButton(t('Halt trading'), async () => {
    if (!armed) {
      armed = setTimeout(rest, armedPeriod);
      return name();
    }
    rest();
    element.textContent = halted ? t('Resuming…') : t('Halting…');
    try {
      say(await wire.owner(halted ? 'resume' : 'halt', {}));
    } catch (err) {
      say(!err.unanswered ? err.message : halted ? t('It is not known whether trading was resumed: {0}.', err.message) : t('It is not known whether trading was halted: {0}.', err.message));
    }
    element.ariaDisabled = 'false'; // so that health may rename it
    name();
    return ask();
  }, say, { id: 'halt', class: 'danger' });
  const show = is => {
    if (is !== halted) clearTimeout(armed), armed = 0; // the first press meant the other
    halted = is;
    if (element.ariaDisabled !== 'true') name();
  };
  return { element, show };
}
