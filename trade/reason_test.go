package trade

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"wick/trade/book"
)

// TestCodes: every code of a reason and of a refusal is in the table, and a reason has as
// many fields as its sentence.
func TestCodes(t *testing.T) {
	names, err := filepath.Glob("*.go")
	rules, wrong := filepath.Glob("*/*.go")
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	var files []*ast.File
	consts := map[string]book.Code{} // by name
	for _, name := range append(names, rules...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
				if text, ok := v.Values[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
					s, _ := strconv.Unquote(text.Value) // the parser has read it
					consts[v.Names[0].Name] = book.Code(s)
				}
			}
			return true
		})
	}
	uses := 0
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := ""
			switch f := call.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			var code book.Code
			switch arg := append(call.Args, nil)[0].(type) {
			case *ast.BasicLit:
				s, _ := strconv.Unquote(arg.Value) // the parser has read it
				code = book.Code(s)
			case *ast.Ident:
				code = consts[arg.Name]
			case *ast.SelectorExpr:
				code = consts[arg.Sel.Name]
			}
			name = strings.ToLower(name)
			if code == "" || name != "because" && name != "refuse" {
				return true
			}
			uses++
			row, known := book.Codes[code]
			if !known || name == "refuse" && row.Retry == "" || name == "because" && strings.Count(row.Says, "%") != len(call.Args)-1 {
				t.Errorf("%s(%q) with %d more: the table has %+v", name, code, len(call.Args)-1, row)
			}
			return true
		})
	}
	if uses < 150 {
		t.Errorf("%d uses of codes were found, want more: the test does not see them", uses)
	}
}
