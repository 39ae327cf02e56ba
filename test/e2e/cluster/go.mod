module wick/e2e/cluster

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1
	wick v0.0.0
)

replace wick => ../../..
