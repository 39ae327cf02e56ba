//go:build race

package trade

const raceDetector = true
