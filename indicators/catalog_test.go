package indicators

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryRecordIsListed: every record of an indicator stands in a list of catalog.go. One
// that is forgotten compiles, and no other test would miss it: nobody could ask for it.
func TestEveryRecordIsListed(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	listed, records := make(map[string]bool), make(map[string]string) // the latter by the name of the variable: its file
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if name == "catalog.go" {
			ast.Inspect(file, func(n ast.Node) bool {
				if x, ok := n.(*ast.UnaryExpr); ok && x.Op == token.AND {
					if variable, ok := x.X.(*ast.Ident); ok {
						listed[variable.Name] = true
					}
				}
				return true
			})
		}
		for _, variable := range recordsIn(file) {
			records[variable] = name
		}
	}
	for variable, file := range records {
		if !listed[variable] {
			t.Errorf("%s of %s is in no list of catalog.go, so nobody can ask for it", variable, file)
		}
	}
	if len(records) != len(catalog) {
		t.Errorf("%d records were found, and the catalogue has %d", len(records), len(catalog))
	}
}

// recordsIn returns the variables of a file whose value holds the literal of an Indicator, by
// itself or as the argument of a function that completes it, and those that are named as the
// records are.
func recordsIn(file *ast.File) (variables []string) {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec) // what a declaration of variables consists of
			found := strings.HasPrefix(v.Names[0].Name, "ind") && ast.IsExported(v.Names[0].Name[len("ind"):])
			ast.Inspect(v, func(n ast.Node) bool {
				if l, ok := n.(*ast.CompositeLit); ok {
					name, ok := l.Type.(*ast.Ident)
					found = found || ok && name.Name == "Indicator"
				}
				return true
			})
			if found {
				variables = append(variables, v.Names[0].Name)
			}
		}
	}
	return variables
}
