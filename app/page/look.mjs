// The tables behind colours, numbers and axes. The server sends those of its own pictures: there is no second copy.

/** The tables, empty until setLook was called. */
export const look = {};

/** setLook takes the tables; they are in place before anything is drawn. */
export const setLook = tables => Object.assign(look, tables);

/** coloursOf returns the colours of a theme by the name of their ink. */
export const coloursOf = theme => ({ ...look.themes.dark, ...look.themes[theme] });

/** faded returns a colour #rrggbb at an opacity of 0 to 1. */
export const faded = (colour, opacity) => colour + Math.round(opacity * 255).toString(16).padStart(2, '0');

/** signalName returns the label of a signal in words: "rsi_overbought" is "RSI leaves overbought". */
export const signalName = label => (look.words[label] ?? label.split('_').map(w => look.words[w] ?? w).join(' ')).slice(0, 32);

const tones = { up: 'up', down: 'down', muted: 'muted', band: 'band', accent: 'amber' };

/** toneInk returns the ink of a level, an area or a mark; tones that only lines have, and none, give other. */
export const toneInk = (tone, other) => tones[tone] ?? other;

/** lineLook returns how a theme draws a line, {ink, dashed}; the server chose it so that no two look the same. */
export function lineLook(line, theme) {
  const [ink, dashed] = (line['ink_' + theme] ?? line.ink).split(' ');
  return { ink, dashed: dashed !== undefined };
}

/** areaInk returns the ink of a fill: that of the lines it belongs to. */
export function areaInk(st, tone) {
  const i = st.lines.findIndex(l => l.tone === tone);
  const found = i >= 0 ? st.lineLooks[i].ink : toneInk(tone, 'band');
  return found === 'band' ? 'fill' : found;
}

/** barInk returns the ink of a histogram; up stands for the four tones of signedInk. */
export const barInk = ({ tone }) => (tone ? toneInk(tone, 'osc') : 'up');

/** signedInk returns the tone of a bar: full when it grows away from zero, pale when it shrinks back. */
export const signedInk = (v, before) => (v < 0 ? (v > before ? 'downPale' : 'down') : v < before ? 'upPale' : 'up');

/** lined reports whether a type of chart draws the closes as a line. */
export const lined = kind => kind === 'line' || kind === 'area';
