package indicators

// Rounding that TA-Lib's own formulas lose: it subtracts the square of the
// mean from the mean of squares, and sums of products from products of sums.
const cancels = "TA-Lib's formula cancels at the level of the price"

// classicVectors covers the indicators that TA-Lib has, and their variants.
var classicVectors = map[string]cover{
	"SMA":  use("sma", "timeperiod=length", "real=SMA"),
	"RSI":  use("rsi", "timeperiod=length", "real=RSI"),
	"MACD": use("macd", "fastperiod=fast, slowperiod=slow, signalperiod=signal", "macd=MACD, macdsignal=Signal, macdhist=Histogram"),
}
