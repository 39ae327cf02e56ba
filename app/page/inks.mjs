// Which line has which colour. An indicator says what a line means, not how it looks;
// here the meanings become inks, so that lines that can be confused never share one.
import { coloursOf, look } from './look.mjs';

const tones = { up: 'up', down: 'down', muted: 'muted', band: 'band', accent: 'amber' };

/** toneInk returns the ink of a level, an area or a mark; tones that only lines have,
 * and none, give other. */
export function toneInk(tone, other) {
  return tones[tone] ?? other;
}

/** paneLooks decides the look of every line and histogram of a pane's studies: each
 * gets the members lineLooks, [{ink, dashed}], and barInks. */
export function paneLooks(studies, theme, price) {
  const chooser = { theme, colours: coloursOf(theme), used: [], lines: 0 };
  for (const st of studies) {
    st.lineLooks = lineLooks(chooser, st, price);
    st.barInks = st.histogram.map(h => (h.tone ? toneInk(h.tone, 'osc') : 'up'));
  }
}

/** lineLooks returns the looks of the lines of one study. Lines of one meaning share
 * a look, which no other study of the pane has. Lines toned up and down keep the
 * candles' colours; where an earlier study has used these, they are dashed. */
function lineLooks(chooser, st, price) {
  const before = [...chooser.used];
  const shared = {};
  return st.lines.map(({ tone }) => {
    if (tone === 'up' || tone === 'down') {
      chooser.used.push(chooser.colours[tone]);
      return { ink: tone, dashed: before.includes(chooser.colours[tone]) };
    }
    if (!tone) return take(chooser);
    if (!shared[tone] || tone === 'primary' || tone === 'second') shared[tone] = take(chooser, lineInk(tone, st, price));
    return shared[tone];
  });
}

/** lineInk returns the ink that a line of a tone takes if it is still free. */
function lineInk(tone, st, price) {
  if (tone === 'primary') return !price && st.lines.length === 1 ? 'osc' : 'line3';
  if (tone === 'second') return 'line2';
  if (tone === 'muted' && st.lines.some(l => l.tone === 'band')) return 'line2'; // the middle of a band is a line to read, not a level
  return toneInk(tone, 'osc');
}

/** take returns the look of one more line: in ink if its colour is free in the pane, else
 * in the first that is. When none is left it begins again with dashes. From the fourth
 * line on, the colour-blind theme adds dashes, so that colour is not the only difference. */
function take(chooser, ink) {
  const free = name => name && !chooser.used.includes(chooser.colours[name]);
  const found = free(ink) ? ink : look.pool.find(free);
  const taken = found ?? look.pool[chooser.lines % look.pool.length];
  chooser.used.push(chooser.colours[taken]);
  chooser.lines++;
  return { ink: taken, dashed: !found || (chooser.theme === 'colorblind' && chooser.lines > 3) };
}

/** areaInk returns the ink of a fill: that of the lines it belongs to. */
export function areaInk(st, tone) {
  const i = st.lines.findIndex(l => l.tone === tone);
  const found = i >= 0 ? st.lineLooks[i].ink : toneInk(tone, 'band');
  return found === 'band' ? 'fill' : found;
}

/** levelInk returns the ink of level k. The outermost plain levels of a bounded
 * oscillator are its extremes: high is a warning, low an offer. */
export function levelInk(st, k, price) {
  const level = st.hlines[k];
  if (price) return toneInk(level.tone, 'band');
  if (level.tone || !st.bounded || st.hlines.length < 2) return toneInk(level.tone, 'level');
  const highest = st.hlines.every(other => level.y >= other.y);
  const lowest = st.hlines.every(other => level.y <= other.y);
  if (highest === lowest) return 'level';
  return highest ? 'down' : 'up';
}

/** histogramInk returns the tone of a bar: full when it grows away from zero, pale
 * when it shrinks back. */
export function histogramInk(base, v, before) {
  if (base !== 'up') return base;
  if (v >= 0) return v < before ? 'upPale' : 'up';
  return v > before ? 'downPale' : 'down';
}
