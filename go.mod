module wick

go 1.26.0

require (
	golang.org/x/image v0.44.0
	golang.org/x/sync v0.24.0
)

require golang.org/x/text v0.40.0 // indirect
