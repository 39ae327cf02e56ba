// The texts in which people type indicators, and back: "ema_stack, rsi length=21". A value
// with a blank or a comma, or that would be read as another, is written as JSON:
// rule when="close > sma(50)".

/** indicatorsText writes indicators as generate_chart takes them: names, or objects with
 * a name and parameters. */
export function indicatorsText(list) {
  const plain = value => /^[^\s,="{[]+$/.test(value) && valueOf(String(value)) === value;
  return list.map(item => {
    if (typeof item === 'string') return item;
    const { name, ...parameters } = item;
    return [name, ...Object.entries(parameters).map(([key, value]) => `${key}=${plain(value) ? value : JSON.stringify(value)}`)].join(' ');
  }).join(', ');
}

/** parseIndicators reads what indicatorsText writes. Numbers become numbers. */
export function parseIndicators(text) {
  const quoted = '"(?:[^"\\\\]|\\\\.)*"';
  const words = new RegExp(`(?:${quoted}|[{[](?:${quoted}|[^"\\]}])*[\\]}]|[^\\s,"])+|,`, 'g');
  const items = [[]];
  for (const [word] of text.matchAll(words)) {
    if (word === ',') items.push([]);
    else items.at(-1).push(word);
  }
  return items.filter(item => item.length > 0).map(([name, ...rest]) => {
    const parameters = rest.map(word => /^([^=]+)=(.+)$/.exec(word)).filter(found => found).map(([, key, value]) => [key, valueOf(value)]);
    return rest.length === 0 ? name : { name, ...Object.fromEntries(parameters) };
  });
}

/** valueOf reads a value: JSON, or else the text. */
export function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
