// How the server is, whether it still answers, and the button that halts trading. What is shown grows old by the
// clock of the browser: a server that is silent cannot say so itself.
import { el, secondPress } from './dom.mjs';
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

/** healthLine says in the top row how the server is, how old its prices are, and since when it, or the way to it, is
 * silent. Its ask asks the server and tells heard; the age grows by itself. A page that was hidden asked nothing, so
 * silence counts from when it is seen again. */
export function healthLine(wire, heard) {
  const [line, state, age, toasts] = ['health', 'state', 'age', 'toasts'].map(id => document.getElementById(id));
  const silence = el('p', { class: 'toast' });
  const { signal } = wire.gone;
  let [said, asked, seen, wrong] = [undefined, 0, Date.now(), ''];
  const show = () => {
    if (signal.aborted) return;
    const silent = Date.now() - Math.max(wire.heard, seen) > patience;
    const text = silent ? t('No answer from wick since {0}: what is shown is from then.', new Date(wire.heard).toLocaleTimeString('sv')) : wrong || (said ? healthText(said) : '');
    const old = said?.feed_age_seconds + (Date.now() - asked) / 1000;
    line.classList.toggle('silent', silent);
    if (state.textContent !== text) state.textContent = text; // readers hear each change
    age.textContent = old >= 0 ? ' · ' + t('prices {0} s old', fixedText(old, 0)) : '';
    line.title = line.textContent;
    if (silent && !silence.isConnected) toasts.append(Object.assign(silence, { textContent: text }));
    if (!silent) silence.remove();
  };
  const ask = async () => {
    try {
      said = await wire.owner('health');
      [asked, wrong] = [Date.now(), ''];
      heard(said);
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

/** haltButton returns the button that halts or resumes trading, and show, which is told whether it is halted. */
export function haltButton(wire, say, ask) {
  let halted = false;
  const name = (b, armed) => { b.textContent = (armed ? [t('Really halt'), t('Really resume')] : [t('Halt trading'), t('Resume trading')])[Number(halted)]; };
  const { element, rest } = secondPress(name, async () => {}, async () => {
    const doubt = text => (halted ? t('It is not known whether trading was resumed: {0}.', text) : t('It is not known whether trading was halted: {0}.', text));
    element.textContent = halted ? t('Resuming…') : t('Halting…');
    await wire.owner(halted ? 'resume' : 'halt', {}).then(say, err => say(err.unanswered ? doubt(err.message) : err.message));
    await ask();
  }, say, { id: 'halt', class: 'danger' });
  const show = is => {
    if (is === halted) return;
    halted = is;
    if (element.ariaDisabled !== 'true') rest(); // the first press meant the other
  };
  return { element, show };
}
