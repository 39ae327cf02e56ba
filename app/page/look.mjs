// The tables behind colours, numbers and axes. They come from the server as JSON,
// which makes them from the tables of its own pictures: there is no second copy.

/** The tables, empty until setLook was called. */
export const look = {};

/** setLook takes the tables; they are in place before anything is drawn. */
export function setLook(tables) {
  Object.assign(look, tables);
}

/** coloursOf returns the colours of a theme by the name of their ink. */
export function coloursOf(theme) {
  return look.themes[theme] ?? look.themes.dark;
}

/** faded returns a colour #rrggbb at an opacity of 0 to 1. */
export function faded(colour, opacity) {
  return colour + Math.round(opacity * 255).toString(16).padStart(2, '0');
}

/** signalName returns the label of a signal in words: "rsi_overbought" is "RSI leaves
 * overbought". */
export function signalName(label) {
  const whole = look.words[label];
  return (whole ?? label.split('_').map(w => look.words[w] ?? w).join(' ')).slice(0, 32);
}
