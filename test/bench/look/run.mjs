// Draws the same bars with wick, lightweight-charts, klinecharts and mplfinance
// and puts the pictures side by side: out/index.html and out/page.png.
//
//   node run.mjs ../../../wick
//
// The bars are wick's own sample data. The three others draw in their own style,
// as they come, with the volume and the same moving average. Python and its
// mplfinance are needed for the fourth picture; without them it is left out, and
// the page says so.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const WIDTH = 1200, HEIGHT = 700
const wick = process.argv[2] ?? '../../../wick'
mkdirSync('out', { recursive: true })

// timed runs a drawing and returns it with how long it took, in milliseconds.
async function timed(draw) {
  const start = performance.now()
  await draw()
  return Math.round(performance.now() - start)
}

const chart = (format, output) => execFileSync(wick, ['--bars', '200', '--indicators', '["ema"]', '--format', format,
  '--width', String(WIDTH), '--height', String(HEIGHT), '--output', output], { maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'ignore'] })

const series = JSON.parse(chart('series', '-'))
const bars = series.bars
const average = series.indicators.ema.lines[0].values
const data = JSON.stringify({ bars, average })

// The pages of the two libraries: each takes window.data and draws.
const pages = {
  'lightweight-charts': {
    script: 'node_modules/lightweight-charts/dist/lightweight-charts.standalone.production.js',
    draw: ({ bars, average }) => {
      const l = LightweightCharts
      const c = l.createChart(document.body, { width: innerWidth, height: innerHeight, timeScale: { timeVisible: true } })
      c.addSeries(l.CandlestickSeries).setData(bars.map(b => ({ time: b.t, open: b.o, high: b.h, low: b.l, close: b.c })))
      const volume = c.addSeries(l.HistogramSeries, { priceFormat: { type: 'volume' }, priceScaleId: '' })
      volume.priceScale().applyOptions({ scaleMargins: { top: 0.85, bottom: 0 } })
      volume.setData(bars.map(b => ({ time: b.t, value: b.v })))
      c.addSeries(l.LineSeries, { lineWidth: 2 }).setData(bars.map((b, i) => ({ time: b.t, value: average[i] ?? undefined })))
      c.timeScale().fitContent()
    },
  },
  klinecharts: {
    script: 'node_modules/klinecharts/dist/umd/klinecharts.min.js',
    draw: ({ bars }) => {
      const c = klinecharts.init(document.body)
      c.setSymbol({ ticker: 'SAMPLE', pricePrecision: 2, volumePrecision: 0 })
      c.setPeriod({ type: 'hour', span: 4 })
      c.setDataLoader({
        getBars: ({ callback }) => callback(bars.map(b => ({ timestamp: b.t * 1000, open: b.o, high: b.h, low: b.l, close: b.c, volume: b.v }))),
      })
      c.createIndicator({ name: 'EMA', calcParams: [20], paneId: 'candle_pane' }, true)
      c.createIndicator('VOL')
      c.setBarSpace((innerWidth - 80) / bars.length)
    },
  },
}

const python = `
import json, sys, pandas as pd, mplfinance as mpf
d = json.load(open('out/data.json'))
f = pd.DataFrame(d['bars']).rename(columns=dict(o='Open', h='High', l='Low', c='Close', v='Volume'))
f.index = pd.to_datetime(f.pop('t'), unit='s')
line = mpf.make_addplot([float('nan') if v is None else v for v in d['average']])
mpf.plot(f, type='candle', volume=True, addplot=line, figsize=(${WIDTH / 100}, ${HEIGHT / 100}), savefig=dict(fname='out/mplfinance.png', dpi=100))
`

const took = { wick: await timed(() => chart('png', 'out/wick.png')) }
writeFileSync('out/data.json', data)
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
for (const [name, { script, draw }] of Object.entries(pages)) {
  const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } })
  await page.setContent('<!doctype html><style>html,body{margin:0;height:100%;background:#fff}</style>')
  await page.addScriptTag({ path: script })
  took[name] = await timed(async () => {
    await page.evaluate(draw, JSON.parse(data))
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
    await page.screenshot({ path: `out/${name}.png` })
  })
  await page.close()
}
try {
  took.mplfinance = await timed(() => execFileSync('python3', ['-c', python], { stdio: ['ignore', 'ignore', 'pipe'] }))
} catch (e) {
  console.log('mplfinance is left out:', String(e.stderr ?? e.message).trim().split('\n').pop())
}

const figures = Object.entries(took).map(([name, ms]) => {
  const bytes = readFileSync(`out/${name}.png`).length.toLocaleString('en')
  return `<figure><img src="${name}.png" width="${WIDTH}" height="${HEIGHT}" alt=""><figcaption>${name}: ${ms} ms from bars to file, ${bytes} bytes</figcaption></figure>`
})
writeFileSync('out/index.html', `<!doctype html><meta charset="utf-8"><title>The same 200 bars</title>
<style>body{margin:16px;font:16px/1.4 system-ui;background:#777;color:#fff;display:grid;grid-template-columns:1fr 1fr;gap:16px}figure{margin:0}img{width:100%;height:auto}</style>
${figures.join('\n')}
`)
const page = await browser.newPage({ viewport: { width: 2000, height: 1260 } })
await page.goto('file://' + process.cwd() + '/out/index.html')
await page.screenshot({ path: 'out/page.png' })
await browser.close()
console.log(took, 'see', process.cwd() + '/out/index.html')
