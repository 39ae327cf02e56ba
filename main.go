// Wick gives language models and people charts, indicators, alerts and paper
// trading over the Model Context Protocol, behind its own OAuth 2.1 login.
package main

import "fmt"

func main() { fmt.Println("wick") }
