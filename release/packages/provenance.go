package main

import "strings"

// statement says what a release was made of: an in-toto statement with a
// provenance of SLSA, version 1. It holds no time and no name of a machine,
// since anyone can make the same files again.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     predicate `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type predicate struct {
	Build buildDefinition `json:"buildDefinition"`
	Run   runDetails      `json:"runDetails"`
}

type buildDefinition struct {
	Type         string            `json:"buildType"`
	Parameters   map[string]string `json:"externalParameters"`
	Dependencies []subject         `json:"resolvedDependencies"`
}

type runDetails struct {
	Builder struct {
		ID string `json:"id"`
	} `json:"builder"`
}

// provenance makes the document of the files that are there so far.
func (r *release) provenance() (map[string][]byte, error) {
	source := "https://" + r.repository()
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	s.Predicate.Build = buildDefinition{
		Type:       source + "/blob/main/docs/install.md#provenance",
		Parameters: map[string]string{"command": "make release", "version": r.version},
	}
	s.Predicate.Run.Builder.ID = source + "/blob/main/Makefile"
	names, err := r.outputs()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		sum, err := r.sum(name)
		if err != nil {
			return nil, err
		}
		s.Subject = append(s.Subject, subject{Name: name, Digest: map[string]string{"sha256": sum}})
	}
	s.Predicate.Build.Dependencies = r.dependencies(source)
	data, err := indented(s)
	return map[string][]byte{"wick-" + r.version + ".provenance.json": data}, err
}

// dependencies lists the tree, the toolchain, the modules that the program was
// linked with, and the certificates of the image.
func (r *release) dependencies(source string) []subject {
	list := []subject{{Name: "source", URI: "git+" + source}, {Name: "toolchain", URI: "pkg:golang/std@" + strings.TrimPrefix(r.built.GoVersion, "go")}}
	if r.revision != "" {
		list[0].Digest = map[string]string{"gitCommit": r.revision}
	}
	for _, m := range r.built.Deps {
		list = append(list, subject{Name: m.Path, URI: "pkg:golang/" + m.Path + "@" + m.Version, Digest: map[string]string{"dirHash": m.Sum}})
	}
	return append(list, subject{Name: "ca-certificates.crt", Digest: map[string]string{"sha256": digest(r.ca)}})
}
