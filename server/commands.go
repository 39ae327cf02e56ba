package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"wick/internal/journal"
	"wick/internal/limit"
	"wick/mcp"
	"wick/mcp/tools"
	"wick/permit"
	"wick/trade"
)

// Command does one thing and ends the program: wick halt on.
type Command struct {
	Name string
	Args string // as --help shows them: [WORD] may be left out, WORD… be repeated
	Help string

	settings string // the settings that it reads, with blanks between them
	run      func(ctx context.Context, t *task) error
}

// task is a command that runs.
type task struct {
	*config
	env            func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	shown          io.Writer // stdout, for text with strangers' words in it
}

// word returns a word after the command, or an empty text if there are fewer.
func (t *task) word(i int) string {
	if i < len(t.words) {
		return t.words[i]
	}
	return ""
}

// Commands returns all that does one thing and ends.
func Commands() []Command {
	return slices.Concat([]Command{
		{"chart", "KEY=VALUE…", "draw one chart: symbol=BTCUSDT interval=1h indicators=rsi,macd output=chart.png, and more that generate_chart takes", "source log-format", drawChart},
		{"clients", "", "list the logins of the server that runs on --data-dir", "data-dir", listClients},
		{"revoke", "ID|all", "end one login of that server, or all", "data-dir", func(ctx context.Context, t *task) error {
			return t.ask(ctx, "/revoke", url.Values{"id": {t.words[0]}})
		}},
		{"halt", "on|cancel|off", "halt trading of that server; cancel also cancels every order; off lets it go on", "data-dir", func(ctx context.Context, t *task) error {
			path := map[string]string{"on": "/halt", "cancel": "/cancel", "off": "/resume"}[t.words[0]]
			if path == "" {
				return fmt.Errorf("halt %q is none of on, cancel, off", limit.Clip(t.words[0]))
			}
			return t.ask(ctx, path, nil)
		}},
		{"approve", "ID", "show an order that waits there and approve it, with the passphrase from standard input, or yes there and --passphrase-file", "data-dir passphrase-file", approveOrder},
		{"accept-positions", "", "take the positions at the broker as they are, so that trading goes on after a difference", "data-dir", func(ctx context.Context, t *task) error {
			return t.ask(ctx, "/accept-positions", nil)
		}},
		{"audit", "[head|verify] [HASH]", "print the journal and who did what; or its newest hash; or check it all, and that it still has a hash", "data-dir", audit},
		{"export", "orders|fills|trades|equity [csv|json]", "print a table of --data-dir; with --cluster-file: export DIR copies the store there", "data-dir cluster-file", export},
		{"recover", "", "show what --recover=yes would keep of a damaged journal", "data-dir cluster-file", showRecovery},
		{"key", "FILE", "make a file for --key-file, with a new key in it", "", func(_ context.Context, t *task) error { return writeKey(t.words[0], t.stdout) }},
		{"config", "CLIENT", "print the settings to paste into a client: " + strings.Join(ClientNames(), ", "), "mcp listen port base-url", func(_ context.Context, t *task) error { return t.writeClient(t.stdout, t.stderr) }},
		{"permissions", "", "print which scope, approval and doors each action needs", "", func(_ context.Context, t *task) error {
			table := tabwriter.NewWriter(t.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "ACTION\tSCOPE\tDOORS\tAPPROVAL")
			for _, r := range permit.Table { // by which every door is kept
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.Action, r.Scope, strings.Trim(fmt.Sprint(r.Doors), "[]"), cmp.Or(r.Approval, "-"))
			}
			return table.Flush()
		}},
		{"healthcheck", "", "ask the server on --listen and --port; exit 0 if it answers, degraded or not, else 1", "listen port", func(ctx context.Context, t *task) error { return healthcheck(ctx, t.config) }},
		{"version", "", "print the version", "", func(_ context.Context, t *task) error {
			_, err := fmt.Fprintf(t.stdout, "wick %s %s %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}},
	}, roomCommands())
}

// commandOf returns the command of a name, nil if there is none.
func commandOf(name string) *Command {
	for _, c := range Commands() {
		if c.Name == name {
			return &c
		}
	}
	return nil
}

// count refuses too few or too many words.
func (c *Command) count(n int) error {
	words := strings.Fields(c.Args)
	least := len(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w[0] == '[' }))
	if n < least || n > len(words) && !strings.HasSuffix(c.Args, "…") {
		return fmt.Errorf("write wick %s, to %s: %w", strings.TrimSpace(c.Name+" "+c.Args), c.Help, errUsage)
	}
	return nil
}

// reads reports whether a command reads a setting; nil, which is none, reads all.
func (c *Command) reads(name string) bool {
	return c == nil || slices.Contains(strings.Fields(c.settings), name)
}

// chartAlias turns the flags of a chart, wick --symbol BTCUSDT --output chart.png, into the
// command: wick chart symbol=BTCUSDT output=chart.png.
func chartAlias(args []string) []string {
	if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(strings.TrimLeft(a, "-")+"=", "output=") && a[0] == '-' }) {
		return args
	}
	out := []string{"chart"}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if commandOf("chart").reads(name) || !strings.HasPrefix(args[i], "-") || name == "h" || name == "help" {
			out = append(out, args[i])
			continue
		}
		if !joined && i+1 < len(args) {
			i++
			value = args[i]
		}
		out = append(out, strings.ReplaceAll(name, "-", "_")+"="+value)
	}
	return out
}

// drawChart draws one chart through the tool that clients call, so that the command line
// gives the same picture as the tool: the tool reads the words. What else it says goes to
// standard error.
func drawChart(ctx context.Context, t *task) error {
	arguments := make(map[string]string)
	for _, word := range t.words {
		key, value, _ := strings.Cut(word, "=")
		if value == "" || arguments[key] != "" {
			return fmt.Errorf("chart %q is not KEY=VALUE, such as symbol=BTCUSDT, or is given twice", limit.Clip(word))
		}
		arguments[key] = value
	}
	output := arguments["output"]
	delete(arguments, "output")
	format := strings.ToLower(cmp.Or(arguments["format"], "png")) // the tool takes such words in any case, too
	arguments["format"] = format
	switch {
	case output == "":
		return errors.New("chart needs output=FILE; output=- is standard output")
	case !slices.Contains([]string{"png", "summary", "series"}, format):
		return fmt.Errorf("format %q is not one of png, summary, series, of which a file holds one", limit.Clip(format))
	}
	source, err := openSource(t.config, t.env)
	if err != nil {
		return err
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	result, err := tools.Chart(tools.Deps{Source: source}).Handle(ctx, mcp.Call{Arguments: text})
	if err != nil {
		// At a command line there is no request to fix and no tool to call.
		if text, cut := strings.CutSuffix(err.Error(), " (fix the request)"); cut {
			return errors.New(strings.ReplaceAll(text, "call list_indicators for the names", "docs/indicators.md has the names"))
		}
		return err
	}
	for _, note := range result.Content[1:] {
		fmt.Fprintf(Visible(t.stderr), "%s\n", note.Text)
	}
	// The first content is the chart itself, a picture or a text; the rest are notes.
	content, out := result.Content[0].Data, t.stdout
	if format != "png" {
		content, out = append(result.Content[0].Text, '\n'), t.shown
	}
	endAtOnce() // what is left is to write it
	if output == "-" {
		_, err := out.Write(content)
		return err
	}
	return os.WriteFile(output, content, 0o644)
}

// ask sends a request to the running server and prints the sentence it answers.
func (t *task) ask(ctx context.Context, path string, form url.Values) error {
	var said string
	if err := askControl(ctx, t.dataDir, http.MethodPost, path, form, &said); err != nil {
		return err
	}
	_, err := fmt.Fprintln(t.shown, said)
	return err
}

// listClients prints the logins of the running server as a table, the oldest first. The
// names are strangers' words, which the login has cleaned for display.
func listClients(ctx context.Context, t *task) error {
	var list []loginJSON
	if err := askControl(ctx, t.dataDir, http.MethodGet, "/clients", nil, &list); err != nil {
		return err
	}
	table := tabwriter.NewWriter(t.shown, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tCLIENT\tSCOPE\tSINCE\tLAST USED\tFROM\tEXPIRES")
	for _, l := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.ID, l.Client, l.Scope,
			l.Since.Format(time.RFC3339), l.Used.Format(time.RFC3339), l.From, l.Expires.Format(time.RFC3339))
	}
	return table.Flush()
}

// approveOrder shows the order that waits under an id at the running server, and says yes to it
// with the passphrase. Who gave the id may have said something else about the order, so nothing
// is approved before a person has seen it: the passphrase is typed below it, or with
// --passphrase-file the word yes. The standard library cannot turn off a terminal's echo.
func approveOrder(ctx context.Context, t *task) error {
	var waiting []permit.Question
	if err := askControl(ctx, t.dataDir, http.MethodGet, "/approvals", nil, &waiting); err != nil {
		return err
	}
	asked := slices.IndexFunc(waiting, func(q permit.Question) bool { return q.ID == t.words[0] })
	if asked < 0 {
		return fmt.Errorf("no order waits under the id %q: it was answered, or its time is over; %d others wait", limit.Clip(t.words[0]), len(waiting))
	}
	for _, line := range waiting[asked].Lines {
		fmt.Fprintln(t.shown, line)
	}
	prompt := "passphrase (it is shown as you type; --passphrase-file reads it from a file): "
	if t.passphraseFile != "" {
		prompt = "type yes to approve this order: "
	}
	fmt.Fprint(t.stderr, prompt)
	typed, err := bufio.NewReader(io.LimitReader(t.stdin, maxOwnerForm)).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return err
	}
	secret := bytes.TrimRight(typed, "\r\n")
	if t.passphraseFile != "" {
		if string(secret) != "yes" {
			return errors.New("nothing was approved: yes was not typed")
		}
		if secret, err = readPassphrase(t.passphraseFile); err != nil {
			return err
		}
	}
	defer clear(secret)
	return t.ask(ctx, "/approve", url.Values{"id": {t.words[0]}, "answer": {"yes"}, "passphrase": {string(secret)}})
}

// audit prints what the journal holds and who did what; with head the newest hash, and with
// verify what a check of the whole history found. It only reads, and may run while a server
// runs on the same directory.
func audit(_ context.Context, t *task) error {
	endAtOnce()
	var find journal.Hash // no record has the zero hash
	switch mode := t.word(0); {
	case mode == "":
		return trade.Audit(t.dataDir, t.shown)
	case mode == "head" && t.word(1) != "" || mode != "head" && mode != "verify":
		return errors.New("write wick audit, wick audit head, or wick audit verify [HASH]")
	case t.word(1) != "":
		if err := find.UnmarshalText([]byte(t.word(1))); err != nil {
			return fmt.Errorf("write wick audit verify HASH with a hash that wick audit head printed: %w", err)
		}
	}
	v, err := trade.Verify(t.dataDir, find)
	// Everything that is damaged is listed; the error names the first.
	if more := len(v.History.Damage) - 1; err != nil && more > 0 && t.words[0] == "verify" {
		for _, found := range v.History.Damage {
			fmt.Fprintln(t.shown, found)
		}
		return fmt.Errorf("%w (and %d more, see above)", err, more)
	}
	switch {
	case err != nil:
		return err
	case t.words[0] == "head":
		_, err := fmt.Fprintln(t.shown, v.History.Head)
		return err
	}
	// What a recovery left out comes first, because "sound" is about what is there.
	for _, note := range v.History.Notes {
		fmt.Fprintln(t.shown, note)
	}
	if n := v.History.Gaps; n > 0 {
		fmt.Fprintf(t.shown, "incomplete: records are missing in %d places, as a recovery has noted; all that is there is sound\n", n)
	}
	records := fmt.Sprintf("records %d to %d", v.History.First+1, v.History.Last)
	if v.History.Last == v.History.First {
		records = fmt.Sprintf("no record after %d", v.History.First)
	}
	fmt.Fprintf(t.shown, "sound: %s in %d journal files, each follows the one before it\nhead: record %d, hash %s\n",
		records, v.History.Files, v.History.Last, v.History.Head)
	switch hash := t.word(1); {
	case hash == "":
		return nil
	case v.Found == nil:
		return fmt.Errorf("%s is not in this history: records were removed or changed since it was written down, or it is another store's", hash)
	default:
		_, err := fmt.Fprintf(t.shown, "found: %s stands after record %d in %s; nothing up to there was changed since\n", hash, v.Found.Seq, v.Found.File)
		return err
	}
}

// export prints a table of the data directory, or copies the store from etcd into an empty
// directory.
func export(ctx context.Context, t *task) error {
	if t.clustered() {
		return exportStore(ctx, t)
	}
	format := cmp.Or(t.word(1), "csv")
	switch {
	case !slices.Contains(trade.Exports, t.words[0]):
		return fmt.Errorf("export %q is none of %s", limit.Clip(t.words[0]), strings.Join(trade.Exports, ", "))
	case format != "csv" && format != "json":
		return fmt.Errorf("export %s %q is neither csv nor json", t.words[0], limit.Clip(format))
	}
	endAtOnce()
	return trade.Export(t.dataDir, t.words[0], format, t.shown)
}

// showRecovery prints what --recover=yes would keep and give up. No other process
// may have the directory; nothing in it is changed.
func showRecovery(_ context.Context, t *task) error {
	if t.clustered() {
		return errors.New("--recover repairs a directory: with --cluster-file the journal is in etcd")
	}
	endAtOnce()
	if _, err := os.Stat(t.dataDir); err != nil {
		return fmt.Errorf("nothing can be recovered: %w", err)
	}
	r, err := trade.ShowRecovery(t.dataDir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.shown, "%snothing was changed; wick --trade --recover=yes keeps this as a new generation, leaves damaged files as they are, and goes on to serve\n", r)
	return err
}
