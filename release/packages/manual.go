package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"wick/server"
)

// man returns the manual page: the flags and commands as --help shows them, and where files are.
func (r *release) man() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH WICK 1 %s \"wick %s\" \"User Commands\"\n", r.epoch.Format("2006-01-02"), r.version)
	b.WriteString(".SH NAME\nwick \\- " + roff(summary) + "\n.SH SYNOPSIS\n")
	var uses []string
	for _, line := range []string{"--serve [--trade] [FLAG...]", "--mcp [--trade] [FLAG...]", "COMMAND [WORD...] [FLAG...]"} {
		uses = append(uses, ".B wick\n"+roff(line)+"\n")
	}
	b.WriteString(strings.Join(uses, ".br\n"))
	b.WriteString(".SH DESCRIPTION\n" + roff(description) + "\n.PP\n" +
		roff("Every flag has an environment twin: --base-url is WICK_BASE_URL. The flag wins.") + "\n.SH OPTIONS\n")
	title := ""
	for _, s := range server.Settings() {
		if s.Group != title {
			title = s.Group
			b.WriteString(".SS " + roff(title) + "\n")
		}
		name := s.Name
		if s.File == "" {
			name = "--" + name
		}
		b.WriteString(".TP\n.B " + roff(strings.TrimSpace(name+" "+s.Value)) + "\n" + roff(s.Meaning()) + "\n")
	}
	b.WriteString(".SH COMMANDS\n")
	for _, c := range server.Commands() {
		b.WriteString(".TP\n.B " + roff(strings.TrimSpace(c.Name+" "+c.Args)) + "\n" + roff(c.Help) + "\n")
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

// listed finds the values in a meaning such as "format of the log: text or json".
var listed = regexp.MustCompile("^[a-z ]*: ([a-z0-9_:DIR-]+(?:(?:, | or )[a-z0-9_:DIR-]+)+)$")

func options() []option {
	var list []option
	for _, s := range server.Settings() {
		if s.File != "" {
			continue
		}
		o := option{name: s.Name, meaning: s.Help, value: s.Value}
		if m := listed.FindStringSubmatch(s.Help); m != nil {
			o.choices = strings.Split(strings.ReplaceAll(m[1], " or ", ", "), ", ")
		}
		list = append(list, o)
	}
	return list
}

// bashCompletion returns the completion for bash: the flags, and after some of
// them their values, files or directories.
func bashCompletion() []byte {
	var flags, values strings.Builder
	for _, c := range server.Commands() {
		flags.WriteString(" " + c.Name)
	}
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
	b.WriteString("#compdef wick\n_arguments \\\n  '1:command:(")
	for _, c := range server.Commands() {
		b.WriteString(c.Name + " ")
	}
	b.WriteString(")' \\\n")
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
	for _, c := range server.Commands() {
		fmt.Fprintf(&b, "complete -c wick -n __fish_use_subcommand -a %s -d '%s'\n", c.Name, clean.Replace(c.Help))
	}
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
