package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// cpu returns the processor time that processes have used so far. Linux counts it in
// hundredths of a second.
func cpu(all []*os.Process) (sum time.Duration, err error) {
	for _, p := range all {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
		if err != nil {
			return 0, err
		}
		_, rest, _ := strings.Cut(string(text), ") ") // the name may have spaces
		fields := strings.Fields(rest)
		for _, i := range []int{11, 12} { // utime and stime
			ticks, err := strconv.Atoi(fields[i])
			if err != nil {
				return 0, err
			}
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum, nil
}
