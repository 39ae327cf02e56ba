package main

import (
	"bytes"
	"flag"
	"fmt"
	"regexp"
	"strings"

	"wick/server"
)

// man returns the manual page: the flags as --help-all shows them, and where files are.
func (r *release) man() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH WICK 1 %s \"wick %s\" \"User Commands\"\n", r.epoch.Format("2006-01-02"), r.version)
	b.WriteString(".SH NAME\nwick \\- " + roff(summary) + "\n.SH SYNOPSIS\n")
	var uses []string
	for _, line := range []string{"--serve [--trade] [FLAG...]", "--mcp [--trade] [FLAG...]", "--output FILE [FLAG...]"} {
		uses = append(uses, ".B wick\n"+roff(line)+"\n")
	}
	b.WriteString(strings.Join(uses, ".br\n"))
	b.WriteString(".SH DESCRIPTION\n" + roff(description) + "\n.PP\n" +
		roff("Every flag but --help-all has an environment twin: --base-url is WICK_BASE_URL. The flag wins. What does one thing may be written as a word that stands first: wick revoke all is wick --revoke all.") + "\n.SH OPTIONS\n")
	for _, group := range server.Flags() {
		b.WriteString(".SS " + roff(group.Title) + "\n")
		for _, f := range group.Flags {
			name, meaning := server.Explain(f)
			b.WriteString(".TP\n.B " + roff(name) + "\n" + roff(meaning) + "\n")
		}
	}
	b.WriteString(".SH FILES\n")
	for _, f := range [][2]string{
		{"~/.wick", "state, unless --data-dir names another directory"},
		{"/var/lib/wick", "state of the service"},
		{"/etc/wick/wick.env", "settings of the service, as environment"},
		{"/etc/wick/passphrase", "the owner's passphrase, for the service"},
		{"/etc/wick/key", "keys of --key-file, for the service, if there are any"},
	} {
		b.WriteString(".TP\n.I " + roff(f[0]) + "\n" + roff(f[1]) + "\n")
	}
	b.WriteString(".SH SIGNALS\n" + roff("SIGTERM, SIGINT and SIGHUP end the program within five seconds; after nohup SIGHUP does not.") + "\n")
	return b.Bytes()
}

// roff escapes a text for a manual page.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// option is a flag as completions see it.
type option struct {
	name, meaning string
	value         string   // what its value is called; empty if it takes none
	choices       []string // its values, where the meaning lists them
}

// listed finds the values in a meaning such as "theme: dark, light or
// colorblind", after the name of the value.
var listed = regexp.MustCompile("`[a-z]+`[a-z ]*: ([a-z0-9_:DIR-]+(?:(?:, | or )[a-z0-9_:DIR-]+)+)$")

func options() []option {
	var list []option
	for _, group := range server.Flags() {
		for _, f := range group.Flags {
			value, meaning := flag.UnquoteUsage(f)
			o := option{name: f.Name, meaning: meaning, value: value}
			if m := listed.FindStringSubmatch(f.Usage); m != nil {
				o.choices = strings.Split(strings.ReplaceAll(m[1], " or ", ", "), ", ")
			}
			list = append(list, o)
		}
	}
	return list
}

// bashCompletion returns the completion for bash: the flags, and after some of
// them their values, files or directories.
func bashCompletion() []byte {
	var flags, values strings.Builder
	for _, o := range options() {
		flags.WriteString(" --" + o.name)
		switch {
		case o.choices != nil:
			fmt.Fprintf(&values, "\t--%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", o.name, strings.Join(o.choices, " "))
		case o.value == "file":
			fmt.Fprintf(&values, "\t--%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", o.name)
		case o.value == "directory":
			fmt.Fprintf(&values, "\t--%s) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n", o.name)
		case o.value != "":
			fmt.Fprintf(&values, "\t--%s) return ;;\n", o.name)
		}
	}
	return []byte("# bash completion for wick\n_wick() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n\tcase $prev in\n" +
		values.String() + "\tesac\n\tCOMPREPLY=($(compgen -W '" + flags.String()[1:] + "' -- \"$cur\"))\n}\ncomplete -F _wick wick\n")
}

// zshCompletion returns the completion for zsh.
func zshCompletion() []byte {
	var b bytes.Buffer
	b.WriteString("#compdef wick\n_arguments \\\n")
	clean := strings.NewReplacer("'", "'\\''", "[", "\\[", "]", "\\]", ":", "\\:")
	for _, o := range options() {
		action := ""
		switch {
		case o.choices != nil:
			action = ":" + o.value + ":(" + strings.ReplaceAll(strings.Join(o.choices, " "), ":", "\\:") + ")"
		case o.value == "file":
			action = ":file:_files"
		case o.value == "directory":
			action = ":directory:_files -/"
		case o.value != "":
			action = ":" + o.value + ": "
		}
		fmt.Fprintf(&b, "  '--%s[%s]%s' \\\n", o.name, clean.Replace(o.meaning), action)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte(" \\\n"))
}

// fishCompletion returns the completion for fish.
func fishCompletion() []byte {
	var b bytes.Buffer
	b.WriteString("complete -c wick -f\n")
	clean := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	for _, o := range options() {
		action := ""
		switch {
		case o.choices != nil:
			action = " -x -a '" + strings.Join(o.choices, " ") + "'"
		case o.value == "file":
			action = " -r -F"
		case o.value == "directory":
			action = " -x -a '(__fish_complete_directories)'"
		case o.value != "":
			action = " -x"
		}
		fmt.Fprintf(&b, "complete -c wick -l %s%s -d '%s'\n", o.name, action, clean.Replace(o.meaning))
	}
	return b.Bytes()
}
