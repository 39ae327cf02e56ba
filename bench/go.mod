module wick/bench

go 1.26.0

require (
	github.com/markcheno/go-talib v0.0.0-20250114000313-ec55a20c902f
	wick v0.0.0
)

require golang.org/x/sync v0.24.0 // indirect

replace wick => ../
