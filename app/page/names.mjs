// The texts in which people type indicators, and back: "ema_stack, rsi length=21".

/** indicatorsText writes indicators as generate_chart takes them: names, or objects with
 * a name and parameters. */
export function indicatorsText(list) {
  return list.map(item => {
    if (typeof item === 'string') return item;
    const { name, ...parameters } = item;
    return [name, ...Object.entries(parameters).map(([key, value]) => `${key}=${value}`)].join(' ');
  }).join(', ');
}

/** parseIndicators reads what indicatorsText writes. Numbers become numbers. */
export function parseIndicators(text) {
  return text.split(',').map(part => part.trim()).filter(part => part).map(part => {
    const [name, ...rest] = part.split(/\s+/);
    if (rest.length === 0) return name;
    const item = { name };
    for (const word of rest) {
      const [key, value] = word.split('=', 2);
      if (value !== undefined) item[key] = value !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
    }
    return item;
  });
}
