// The time axis. Bars stand side by side whatever time lies between them, so ticks are bars, the first of every hour,
// day or month, at the finest step with room for labels. Each label says what has changed since the one before it.
import { look } from './look.mjs';

/** day is how many seconds a day has. */
export const day = 86400;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** offsetSeconds reads +05:30, alone or at the end of a text; without one it is 0. */
function offsetSeconds(text) {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(text) ?? ['', '+', 0, 0];
  return Number(sign + 1) * (hours * 3600 + minutes * 60);
}

/** offsetIn returns a function from unix seconds to the offset of a zone from UTC, in seconds; for an unknown zone it
 * is 0. For a day whose both ends have the same offset the browser is asked once. */
export function offsetIn(zone = 'UTC') {
  if (/^[+-]/.test(zone)) return () => offsetSeconds(zone);
  let format;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  } catch {
    return () => 0;
  }
  const ask = t => offsetSeconds(format.format(t * 1000)); // 7/1/2026, GMT+02:00
  const days = new Map();
  return t => {
    const start = Math.floor(t / day) * day;
    if (!days.has(start)) days.set(start, ask(start) === ask(start + day) ? ask(start) : null);
    return days.get(start) ?? ask(t);
  };
}

/** wallTimes returns when each bar begins on the wall clock of a zone. Bars of a day and more are dates, which no zone
 * changes. */
export function wallTimes(times, seconds, zone) {
  const offset = seconds < day ? offsetIn(zone) : () => 0;
  return times.map(t => {
    const wall = t + offset(t);
    const date = new Date(wall * 1000);
    return { wall, year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
  });
}

/** bucket returns the number of the stretch of a step that contains bar b; where it changes there is a tick. */
function bucket({ unit, n }, b) {
  if (unit === 'time') return Math.floor(b.wall / n);
  if (unit === 'month') return Math.floor((b.year * 12 + b.month - 1) / n);
  if (n === 7) return Math.floor((b.wall - 4 * day) / (7 * day)); // 1970 began on a Thursday
  if (n === 15) return b.year * 24 + b.month * 2 + (b.day >= 15 ? 1 : 0);
  return Math.floor(b.wall / (n * day));
}

/** rankOf says what begins with bar b: 3 a year, 2 a month, 1 a day. */
const rankOf = (before, b) => (b.year !== before.year ? 3 : b.month !== before.month ? 2 : b.day !== before.day ? 1 : 0);

/** dateText writes the date of a bar, with the clock where bars are shorter than a day. */
export function dateText(wall, seconds) {
  const text = new Date(wall * 1000).toISOString();
  return seconds < day ? text.slice(0, 10) + ' ' + text.slice(11, 16) : text.slice(0, 10);
}

/** tickLabel returns the label of bar b for a reader who has just read the label of before: it says only what has
 * changed. It also returns whether the label is a strong one. */
function tickLabel(b, before, rank, step) {
  const name = months[b.month - 1];
  const date = `${name} ${b.day}`;
  const changed = rankOf(before, b); // since the label before, not the bar before
  if (step.unit === 'time') {
    const clock = dateText(b.wall, 0).slice(11);
    if (changed === 0) return [clock, false];
    return [changed === 3 ? `${date} ${b.year}` : rank === 0 ? `${date} ${clock}` : date, true];
  }
  const whole = step.unit === 'month' || rank >= 2 ? name : date; // a month begins
  if (changed === 3) return [rank === 3 ? `${b.year}` : `${whole} ${b.year}`, true];
  return changed === 2 ? [whole, true] : [`${b.day}`, false];
}

/** timeTicks chooses bars of axis.bars and names them: those where a stretch of the finest step begins whose ticks are
 * on average apart pixels from each other, but for labels that leave the plot or touch the one before. */
export function timeTicks({ bars, interval, apart, gap, firstEnd, right, column, width }, pitch) {
  const later = bars.map((_, i) => i).slice(1);
  const ticksOf = step => later.filter(i => bucket(step, bars[i]) !== bucket(step, bars[i - 1]));
  const { steps } = look;
  const fitting = steps.find(step => step.seconds >= Math.min(interval, steps.at(-1).seconds) && pitch * bars.length >= apart * ticksOf(step).length);
  const ticks = [];
  let [before, end] = [bars[0], firstEnd];
  for (const i of fitting ? ticksOf(fitting) : []) {
    const [text, strong] = tickLabel(bars[i], before, rankOf(bars[i - 1], bars[i]), fitting);
    const wide = width(text, strong);
    const x = column(i) - Math.floor(wide / 2);
    if (x < end + gap || x + wide > right) continue;
    ticks.push({ bar: i, text, strong, x });
    [before, end] = [bars[i], x + wide];
  }
  return ticks;
}

/** lastEnd returns when the last bar ends. Months have lengths of their own. */
export function lastEnd({ interval, time, n, seconds }) {
  const begin = new Date(time[n - 1] * 1000);
  return interval === '1mo' ? Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1) / 1000 : time[n - 1] + seconds;
}
