package indicators

import (
	"fmt"
	"strconv"
	"strings"

	"wick/limit"
	"wick/rules"
)

// Label returns the title with the parameters, as a legend shows it.
func (r Request) Label() string { return r.Args.label() }

// label writes the indicator's title and its numeric parameters, as a legend
// shows them: "MACD(12, 26, 9)". Choices appear only when they are not the
// default, switches and quiet parameters never.
func (a Args) label() string {
	var parts []string
	for i, p := range a.ind.Params {
		switch {
		case p.Quiet:
		case p.Many && len(a.chosen[p.Name]) > 1:
			parts = append(parts, strings.Join(a.Chosen(p.Name), " "))
		case p.Kind == Symbol:
			parts = append(parts, a.texts[p.Name])
		case p.Name == "source" && a.of != nil:
			parts = append(parts, a.of.Label())
		case p.Kind == Choice && a.values[i] != p.Default:
			parts = append(parts, p.Choices[int(a.values[i])])
		case p.Kind == Expression:
			for _, e := range a.exprs[p.Name] {
				parts = append(parts, limit.Clip(e.Source()))
			}
		case p.Kind == Number || p.Kind == Int:
			parts = append(parts, number(a.values[i]))
		}
	}
	if len(parts) == 0 {
		return a.ind.Title
	}
	return a.ind.Title + "(" + strings.Join(parts, ", ") + ")"
}

// Identity returns the canonical text of the call, which is the same for two requests that
// compute the same: rsi(14), sma(20, source="hl2"). Numbers are given by position as long
// as none was left out before them. Switches, choices and quiet numbers are written only if
// they differ from the default.
func (r Request) Identity() string {
	var parts []string
	left := false // a number was left out
	for i, p := range r.Ind.Params {
		v := r.Args.values[i]
		switch {
		// Several choices, in the order in which the parameter lists them.
		case p.Many && len(r.Args.chosen[p.Name]) > 1:
			parts = append(parts, fmt.Sprintf("%s=%q", p.Name, strings.Join(r.Args.Chosen(p.Name), ",")))
		// Expressions are written in their canonical form, in which blanks make no
		// difference.
		case p.Kind == Expression:
			for _, e := range r.Args.exprs[p.Name] {
				parts = append(parts, fmt.Sprintf("%s=%q", p.Name, e))
			}
		case p.Kind == Symbol:
			parts = append(parts, fmt.Sprintf("%s=%q", p.Name, r.Args.texts[p.Name]))
		// A source that is another indicator: its line and its own identity.
		case p.Name == "source" && r.Args.of != nil:
			parts = append(parts, fmt.Sprintf("%s=%q of %s", p.Name, r.Args.of.Key, r.Args.of.Identity()))
		case p.Kind == Choice && v != p.Default:
			parts = append(parts, fmt.Sprintf("%s=%q", p.Name, p.Choices[int(v)]))
		case p.Kind == Bool && v != p.Default:
			parts = append(parts, fmt.Sprintf("%s=%t", p.Name, v != 0))
		// The default: it is not written.
		case p.Kind == Choice || p.Kind == Bool:
		// After a number that is left out, numbers are written with their names.
		case p.Quiet && v == p.Default:
			left = true
		case left:
			parts = append(parts, p.Name+"="+number(v))
		default:
			parts = append(parts, number(v))
		}
	}
	name := r.Ind.Name
	// An indicator with the name of a function of the language needs a prefix to be
	// read as the indicator again.
	if rules.Builtin(name) {
		name = "ta." + name
	}
	if len(parts) == 0 {
		return name
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

// number writes v in the shortest plain form.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
