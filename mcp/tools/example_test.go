package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"

	"wick/market"
	"wick/mcp"
	"wick/mcp/tools"
)

// A tool is called by its name with JSON arguments, as over any transport.
func ExampleAll() {
	all := tools.All(tools.Deps{Source: market.Sample{}})
	i := slices.IndexFunc(all, func(t mcp.Tool) bool { return t.Name == "list_indicators" })
	result, err := all[i].Handle(context.Background(), mcp.Call{Arguments: json.RawMessage(`{"query":"200 ema"}`)})
	if err != nil {
		log.Fatal(err)
	}
	var found struct{ Indicators []struct{ Name string } }
	if err := json.Unmarshal(result.Content[0].Text, &found); err != nil {
		log.Fatal(err)
	}
	fmt.Println("the query finds", found.Indicators[0].Name)
	// Output: the query finds ema
}

// A tool that only answers names the arguments that it did not read.
func ExampleAll_unknownArgument() {
	for _, t := range tools.All(tools.Deps{Source: market.Sample{}}) {
		if t.Name == "generate_chart" {
			result, err := t.Handle(context.Background(), mcp.Call{Arguments: json.RawMessage(`{"format":"summary","indicators":[],"tickr":"BTCUSDT"}`)})
			if err != nil {
				log.Fatal(err)
			}
			var reply struct{ Ignored json.RawMessage }
			if err := json.Unmarshal(result.Content[0].Text, &reply); err != nil {
				log.Fatal(err)
			}
			fmt.Println(string(reply.Ignored))
		}
	}
	// Output: [{"name":"tickr","nearest":"ticker"}]
}

// One picture needs no server.
func ExampleChart() {
	chart := tools.Chart(tools.Deps{Source: market.Sample{}})
	result, err := chart.Handle(context.Background(), mcp.Call{Arguments: json.RawMessage(`{"symbol":"BTCUSDT","bars":60,"indicators":["bbands"]}`)})
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.DevNull, result.Content[0].Data, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].MIME)
	// Output: image/png
}
