package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFilesHaveAnOrder: inside the packages of the program, too, arrows point down only.
// The files of each can be laid out so that each uses what stands in those below it and
// nothing of those above, so a reader can begin at either end.
func TestFilesHaveAnOrder(t *testing.T) {
	dirs := make(map[string]bool)
	for _, pattern := range []string{"*/*.go", "*/*/*.go", "*/*/*/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			dir := filepath.ToSlash(filepath.Dir(path))
			if top, _, _ := strings.Cut(dir, "/"); top != "cmd" && top != "bench" && top != "e2e" && !strings.HasSuffix(dir, "test") {
				dirs[dir] = true
			}
		}
	}
	if len(dirs) < 25 {
		t.Fatalf("only %d packages were found", len(dirs))
	}
	for dir := range dirs {
		uses := fileUses(t, dir)
		// Files that use none of those left are taken off the bottom, and those that
		// none of them uses off the top. What is left uses itself, by way of others.
		for again := true; again; {
			again = false
			for file, of := range uses {
				used := slices.ContainsFunc(slices.Collect(maps.Values(uses)), func(of map[string]string) bool { return of[file] != "" })
				if used && len(of) > 0 {
					continue
				}
				again = true
				delete(uses, file)
				for _, of := range uses {
					delete(of, file)
				}
			}
		}
		for file, of := range uses {
			for other, name := range of {
				t.Errorf("%s/%s uses %s of %s, which uses it, perhaps by way of others", dir, file, name, other)
			}
		}
	}
}

// fileUses returns for each file of a package the other ones that it uses, each
// with a name that it takes from there.
func fileUses(t *testing.T, dir string) map[string]map[string]string {
	set := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	uses := make(map[string]map[string]string)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files, uses[filepath.Base(path)] = append(files, file), make(map[string]string)
	}
	info := types.Info{Uses: make(map[*ast.Ident]types.Object)}
	// Nothing is imported, because only the names of the package itself are wanted;
	// the errors that follow from that say nothing.
	config := types.Config{Error: func(error) {}, Importer: noImports{}}
	pkg, _ := config.Check(dir, set, files, &info)
	for name, object := range info.Uses {
		if object.Pkg() != pkg || !object.Pos().IsValid() {
			continue
		}
		from, to := filepath.Base(set.Position(name.Pos()).Filename), filepath.Base(set.Position(object.Pos()).Filename)
		if from != to {
			uses[from][to] = object.Name()
		}
	}
	return uses
}

// noImports gives an empty package for every path.
type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	p.MarkComplete()
	return p, nil
}
