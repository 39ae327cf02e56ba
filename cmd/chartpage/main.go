// Chartpage prints the chart for chats as one HTML text, as hosts of MCP Apps get it.
package main

import (
	"fmt"
	"os"

	"wick/app"
)

func main() {
	if _, err := os.Stdout.WriteString(app.ChartHTML()); err != nil {
		fmt.Fprintln(os.Stderr, "chartpage:", err)
		os.Exit(1)
	}
}
