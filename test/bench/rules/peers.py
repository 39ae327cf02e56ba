"""Runs one rule with backtesting.py and with vectorbt, a run for each line on
standard input that names one of them, and answers with a line of JSON: seconds of
CPU, trades closed, and the final equity as a multiple of the capital."""

import json
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import pandas as pd
import vectorbt as vbt
from backtesting import Backtest, Strategy
from backtesting.lib import crossover

FEE = 0.001
FAST, SLOW = 12, 26

# backtesting.py trades whole units: with this capital they are as good as fractions.
CAPITAL = 1e12


def ema(values, n):
    """The average that wick and TA-Lib compute: it begins with the mean of the
    first n values, where pandas alone would begin with the first one."""
    seeded = pd.Series(values, dtype=float)
    seeded.iloc[n - 1] = seeded.iloc[:n].mean()
    seeded.iloc[: n - 1] = float("nan")
    return seeded.ewm(span=n, adjust=False).mean()


class Cross(Strategy):
    def init(self):
        self.fast = self.I(ema, self.data.Close, FAST)
        self.slow = self.I(ema, self.data.Close, SLOW)

    def next(self):
        if not self.position and crossover(self.fast, self.slow):
            self.buy()
        elif self.position and crossover(self.slow, self.fast):
            self.position.close()


def backtesting(bars):
    stats = Backtest(bars, Cross, cash=CAPITAL, commission=FEE).run()
    return len(stats["_trades"]), stats["Equity Final [$]"]


def portfolio(bars):
    fast, slow = (pd.Series(ema(bars.Close.values, n).values, index=bars.index) for n in (FAST, SLOW))
    enter = (fast.shift(1) <= slow.shift(1)) & (fast > slow)
    leave = (fast.shift(1) >= slow.shift(1)) & (fast < slow)
    return vbt.Portfolio.from_signals(
        bars.Close,
        enter.shift(1, fill_value=False),  # what a bar decides, the next one's open fills
        leave.shift(1, fill_value=False),
        price=bars.Open,
        fees=FEE,
        init_cash=CAPITAL,
        freq="1h",
    )


def vectorbt(bars):
    p = portfolio(bars)
    return int(p.trades.closed.count()), float(p.value().iloc[-1])


def vectorbt_stats(bars):
    p = portfolio(bars)
    p.stats()
    return int(p.trades.closed.count()), float(p.value().iloc[-1])


def main():
    bars = pd.read_csv(sys.argv[1])
    bars.index = pd.to_datetime(bars.pop("Time"), unit="s")
    for line in sys.stdin:
        run = {"backtesting": backtesting, "vectorbt": vectorbt, "vectorbt_stats": vectorbt_stats}[line.strip()]
        start = time.process_time()
        trades, equity = run(bars)
        took = time.process_time() - start
        print(json.dumps({"seconds": took, "trades": trades, "equity": equity / CAPITAL}), flush=True)


main()
