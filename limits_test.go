package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"wick/chart"
	"wick/mcp/tools"
	"wick/server"
)

var update = flag.Bool("update", false, "rewrite the documents that are made from the code")

// limit is a row of docs/limits.md: a constant of the code, what it bounds, and
// a test of it.
type limit struct{ pkg, name, unit, what, test string }

// limits are all bounds that somebody outside could meet, in the order of the
// document; a row without a package is a heading.
var limits = []limit{
	{what: "Connections and HTTP"},
	{"server", "maxAnonymousConns", "", "connections that have shown no valid token, half of them with a request in progress, and at most a quarter of the files that the process may open; of the half that is full the oldest goes, one that waits for its peer before others", "TestConnectionBounds"},
	{"server", "maxUnread", "", "accepted connections that wait for their first read; further ones wait to be accepted", "TestUnreadConnections"},
	{"server", "maxTokenConns", "", "connections of one token, at most an eighth of the files; its oldest idle one goes, or if none is idle the request gets 429", "TestConnectionBounds"},
	{"server", "maxClientConns", "", "connections of one client, at most a quarter of the files; of the token that has most of them, the same", "TestConnectionBounds"},
	{"server", "reservedFiles", "", "files kept for all but connections, at most half of them", "TestConnectionBounds"},
	{"server", "maxMetricsConns", "", "twice the connections to the metrics that stay; for one more the oldest goes", "TestMetricsConnections"},
	{"server", "maxReplicaConns", "", "twice those of other replicas that stay; the same", "TestReplicaConnections"},
	{"server", "maxOwnerForm", "bytes", "the form of a question of the owner's page; nothing is read of a longer one, and only what needs none is done: a halt halts", "TestOwnerForm"},
	{"server", "auditTail", "bytes", "the end of the audit that the page shows, of which whole lines", "TestAuditTail"},
	{"server", "readHeaderTimeout", "", "time to send the head of a request", "TestSlowRequests"},
	{"server", "readTimeout", "", "time to send a whole request", "TestSlowRequests"},
	{"server", "replyTimeout", "", "time from the head of a request to the end of its reply, where no row below gives more", "TestReplyTimeout"},
	{"server", "logQueue", "bytes", "lines of the log that wait to be read; further ones are dropped and counted", "TestUnreadLog"},
	{"server", "maxHeaderBytes", "bytes", "head of a request, its first line included", "TestHeaderBound"},
	{"server", "idleTimeout", "", "a kept connection without a request", "TestServerBounds"},
	{"server", "shutdownTimeout", "", "what is left to finish on SIGTERM, over HTTP and stdio", "TestShutdownBound"},
	{"server", "frontFarewell", "", "the same for a host over stdio, or an attached one, that does not read", "TestFarewell"},
	{"server", "hostPatience", "", "that a host over stdio, or an attached one, may take for 4 KiB of its replies; then it counts as gone, and the process that it started ends", "TestDeafHostEnds"},
	{"server", "hostPiece", "bytes", "what it has to take in that time; one that does gets all", "TestSlowHost"},
	{"permit", "maxOwn", "", "orders of one login that wait for approval or have an answer; one more takes the place of one that was refused, or else of its oldest", "TestBounds"},
	{"permit", "maxQuestions", "", "the same in all; one more takes the place of such a one of the login that has most", "TestBounds"},
	{"permit", "life", "", "that such an order waits, and then that its answer can be used", "TestBounds"},
	{"permit", "maxMinutes", "", "minutes of the last hour in which a client placed orders, over all clients; beyond it every order needs a yes", "TestBounds"},
	{"server", "maxAttached", "", "processes that attach to this one over its control socket", "TestAttachBound"},
	{"server", "maxPassphrase", "bytes", "file with the passphrase", "TestPassphraseBound"},
	{"server", "maxWatchlist", "bytes", "file of --watchlist", "TestWatchlist"},
	{"server", "minPassphrase", "", "characters of a passphrase, at least", "TestWeakPassphrase"},
	{"server", "maxTyped", "", "characters of a passphrase, in UTF-16, as the field of the login page counts them", "TestPassphraseCanBeTyped"},
	{"server", "memoryBase", "bytes", "memory beside charts, streams and what is in use at the start, before the collector works harder", "TestMemoryLimit"},
	{"server", "memorySource", "bytes", "more of it with a data service", "TestMemoryLimit"},
	{"server", "memoryConn", "bytes", "more of it for each connection with a token, in steps of 256 connections", "TestMemoryLimit"},
	{"internal/metrics", "maxSeries", "", "series of one metric; the rest is counted as other", "TestBound"},

	{what: "Login"},
	{"oauth", "TokenLife", "", "life of a token", "TestDuty36EveryRequest"},
	{"oauth", "codeLife", "", "life of a code", "TestDuty24FiveMinutes"},
	{"oauth", "formLife", "", "life of a consent form, which counts once", "TestDuty02Expiry"},
	{"oauth", "maxTokens", "", "tokens that are known; the one longest unused goes, with its streams, and is known again when it is shown", "TestKeysAllEnd"},
	{"oauth", "maxAnswered", "", "answered forms remembered, so that none counts twice", "TestLoginBounds"},
	{"oauth", "maxApproved", "", "clients remembered as approved at an address, to which errors are redirected", "TestLoginBounds"},
	{"oauth", "maxPlaces", "", "places remembered where the right passphrase came from", "TestKnownPlacesBound"},
	{"oauth", "maxClientID", "bytes", "a client_id, which holds the whole registration", "TestClientIDBound"},
	{"oauth", "maxSealed", "bytes", "a code or token; a longer one is not opened", "TestKeysSize"},
	{"oauth", "maxKeys", "", "keys in a key file", "TestParseKeys"},
	{"oauth", "maxTaken", "", "codes, and forms that brought a yes, remembered until they end, without --cluster-file; one more is refused", "TestLedgerBounds"},
	{"oauth", "maxRevoked", "", "revoked logins remembered until they end, 500 with --cluster-file; one more ends all logins", "TestLedgerBounds"},
	{"oauth/fileledger", "maxFile", "bytes", "the file with both", "TestDamage"},
	{"server", "maxKeyFile", "bytes", "key file", "TestKeyFile"},
	{"oauth", "maxBody", "bytes", "a registration, a token request, a consent form", "TestDuty14Bounds"},
	{"oauth", "maxQuery", "bytes", "an authorization request", "TestDuty14Bounds"},
	{"oauth", "bodyTime", "", "time to send a body", "TestSlowBody"},
	{"oauth", "maxRedirects", "", "redirect URIs of a client", "TestDuty12RedirectURIs"},
	{"oauth", "maxRedirectLen", "bytes", "one redirect URI", "TestDuty12RedirectURIs"},
	{"oauth", "maxState", "bytes", "state", "TestDuty22State"},
	{"oauth", "maxDocument", "bytes", "document of a client", "TestDocumentRefused"},
	{"oauth", "documentTime", "", "time to fetch one", "TestDocumentSlow"},
	{"oauth", "documentLeast", "", "that one is kept, at least, while there is room", "TestDocumentKept"},
	{"oauth", "documentMost", "", "at most, unless it cannot be fetched again", "TestDocumentKept"},
	{"oauth", "maxDocuments", "", "documents kept; those that brought no client go first, then the longest unused", "TestDocumentBounds"},
	{"oauth", "maxDocumentURL", "bytes", "address of a document", "TestDocumentAddresses"},
	{"oauth", "maxAddresses", "", "addresses a rate limit remembers, twice", "TestLimiterMemory"},

	{what: "Protocol"},
	{"mcp", "maxBody", "bytes", "body of a POST to /mcp", "TestBodyBounds"},
	{"mcp", "maxAnonymous", "bytes", "body before a token must have been shown", "TestBodyBounds"},
	{"mcp", "maxHeldToken", "bytes", "bodies and unread replies of one token, beyond 4 KiB each; then 429", "TestHeldReplies"},
	{"mcp", "maxHeldClient", "bytes", "of one client with all its tokens; then 429", "TestHeldTogether"},
	{"mcp", "maxHeld", "bytes", "of all tokens; then 503", "TestHeldTogether"},
	{"mcp", "maxHeldAnonymous", "bytes", "of all requests without a valid token; then 503", "TestHeldByStrangers"},
	{"mcp", "writeTimeout", "", "time to receive a reply", "TestWriteTimeout"},
	{"mcp", "anonymousWriteTimeout", "", "the same without a valid token", "TestAnonymousWriteTimeout"},
	{"mcp", "maxBatch", "", "messages in a batch, for which over HTTP a token is needed", "TestBatchBound"},
	{"mcp", "maxID", "bytes", "id of a request, and progress token", "TestLongNames"},
	{"mcp", "maxNamed", "", "responses or resources that a request names", "TestLongNames"},
	{"mcp", "maxWaitingToken", "", "tool calls of one token that wait, beside two running per processor; charts and computations wait apart; then 429", "TestWaitingBounds"},
	{"mcp", "maxWaitingClient", "", "of one client with all its tokens; then 429", "TestWaitingBounds"},
	{"mcp", "maxWaiting", "", "in all; then 503", "TestBusy"},
	{"mcp", "waitingSlots", "", "calls that wait for the disk or another replica at once, beside those that work", "TestWaitingSlots"},
	{"mcp", "maxSession", "bytes", "Mcp-Session-Id that is echoed", "TestSessionEcho"},
	{"mcp", "maxLine", "bytes", "line over stdio", "TestStdioLongLine"},
	{"mcp", "maxUnderway", "", "calls of one conversation over stdio that run or wait; then an error", "TestStdioUnderway"},
	{"mcp", "maxUnderwayBytes", "bytes", "lines of these calls; one more begins only below that", "TestStdioUnderway"},
	{"mcp", "maxURI", "bytes", "URI of a resource that a client sends", "TestSubscriptionBounds"},
	{"mcp", "maxContents", "bytes", "contents of a resource", "TestContentBounds"},
	{"mcp", "maxWatchedToken", "", "resources that one token watches, and one listener", "TestSubscriptionBounds"},
	{"mcp", "maxWatched", "", "in all", "TestWatchedBounds"},
	{"mcp", "maxListeners", "", "listeners of one token; the oldest ends", "TestListenerLeaves"},
	{"mcp", "maxAllListeners", "", "in all; then 503", "TestWatchedBounds"},
	{"mcp", "maxArgument", "bytes", "value of a prompt's argument, or one to complete", "TestContentBounds"},
	{"mcp", "maxCompletions", "", "values of a completion", "TestCompletionBound"},

	{what: "Tools"},
	{"mcp/tools", "maxBars", "", "bars shown", "TestOnePastTheLimit"},
	{"mcp/tools", "maxArguments", "", "names of a call's arguments, and of an object inside them", "TestUnknownIsBounded"},
	{"mcp/tools", "maxIndicators", "", "indicators of a call", "TestOnePastTheLimit"},
	{"mcp/tools", "maxStudies", "", "indicators that the rules, formulas and backtests of a call name together", "TestOnePastTheLimit"},
	{"indicators", "maxSources", "", "indicators of each other that a call nests", "TestNestedSources"},
	{"mcp/tools", "maxSymbols", "", "symbols of a scan", "TestOnePastTheLimit"},
	{"mcp/tools", "replySize", "", "characters of a reply, about, when no more was asked for", "TestReplyBound"},
	{"mcp/tools", "maxCatalog", "", "characters of the whole catalogue", "TestCatalogueTerse"},
	{"mcp/tools", "maxPage", "", "orders, alerts or notifications of a call with a limit", "TestPages"},
	{"chart", "MaxWidth", "", "width in pixels", "TestOptionsRefused"},
	{"chart", "MaxHeight", "", "height in pixels", "TestOptionsRefused"},
	{"chart", "MaxBytes", "bytes", "PNG", "TestTooLarge"},
	{"chart", "MaxPixelRatio", "", "device pixels per pixel", "TestOptionsRefused"},
	{"chart", "MaxMarks", "", "marks of a caller's own", "TestMarksRefused"},
	{"chart", "MaxCompare", "", "symbols beside a chart's own", "TestCompareBound"},
	{"mcp/tools", "maxSeriesBytes", "bytes", "series payload", "TestSeriesTooLarge"},

	{what: "Streams"},
	{"sse", "QueueTTL", "", "life of a notification in a queue, delivered or not", "TestAge"},
	{"sse", "QueueCap", "", "notifications in the queue of a subscription, and in that of get_notifications; the oldest goes", "TestCapacity"},
	{"sse", "MaxPerCaller", "", "streams of one token on GET /mcp; the oldest ends", "TestMaxPerCaller"},
	{"sse", "MaxStreams", "", "streams in all", "TestMaxStreams"},
	{"sse", "settleAfter", "", "that a stream stays open after a write for it to count as delivered", "TestSettled"},
	{"sse", "writeTimeout", "", "time to take one write, at most", "TestSlowReader"},

	{what: "Trading"},
	{"trade/book", "MaxAlerts", "", "active alerts", "TestLimitsWithoutFlag"},
	{"trade/book", "MaxNote", "", "characters of the note of an alert or an order", "TestClientAlertID"},
	{"trade/book", "MaxFired", "", "firings of alerts that are remembered, the newest", "TestHistoryIsBounded"},
	{"trade/book", "MaxCloses", "", "parts that were closed that a trade lists; its sums have all of them", "TestTradeCloses"},
	{"trade/book", "MaxPause", "", "cooldown of an alert, at most", "TestRepeatRefused"},
	{"trade/book", "MaxFirings", "", "notifications of one alert by one look at the market, the newest, and fewer if those of all alerts are more than a queue keeps; how many more there were is told and counted", "TestManyFirings"},
	{"trade/book", "MaxSymbols", "", "symbols watched, for alerts, orders and positions", "TestLimitsWithoutFlag"},
	{"trade/book", "duplicateWindow", "", "in which an equal order of one client is refused, unless it has a client_order_id, or closes all of a position that the first has closed", "TestDuplicates"},
	{"trade", "maxSubscriptions", "", "subscriptions; one more drops the oldest that no client holds, with its queue, and the log says so, else it is refused", "TestSubscriptionBound"},
	{"trade", "maxFilterSymbols", "", "symbols of a filter", "TestFilters"},
	{"trade/book", "maxParams", "bytes", "parameters of an alert's indicator", "TestConditionRefused"},
	{"trade", "maxHalt", "bytes", "file HALT; a longer one halts, whatever it says", "TestHaltWhatever"},
	{"trade", "keptOrders", "", "finished orders that stay in memory when a journal is closed, with --cluster-file all; older ones are read from closed journals", "TestFinished"},
	{"internal/journal", "maxRecord", "bytes", "record of the journal", "TestRecordBound"},

	{what: "Messages to the owner"},
	{"notify", "maxDestinations", "", "destinations", "TestParseRefused"},
	{"server", "maxNotifyFile", "bytes", "file with the destinations", "TestNotifyFlags"},
	{"notify", "defaultRate", "", "messages in a minute to a destination, unless its line says otherwise; the rest becomes one summary", "TestStorm"},
	{"notify", "maxRate", "", "messages in a minute that a line can ask for", "TestParseRefused"},
	{"notify", "maxQueue", "", "events that wait for a destination; the oldest goes, as a dead letter", "TestHangingDestination"},
	{"notify", "retryFor", "", "that a message is tried, after quiet hours", "TestRetryForADay"},
	{"notify", "refusedFor", "", "that one is tried which the service refuses", "TestRefusedForLong"},
	{"notify", "maxDead", "", "dead letters remembered; wick audit has all", "TestDeadLettersBound"},
	{"notify/service", "Timeout", "", "an attempt, with the upload of a picture", "TestNoAnswer"},
	{"notify/service", "maxReply", "bytes", "reply of a service that is read", "TestMailFaults"},
	{"notify/service", "maxURL", "bytes", "address of a destination", "TestNewRefusesValues"},
	{"notify/service", "maxValue", "bytes", "value of a key of a destination", "TestNewRefusesValues"},
	{"notify", "maxTold", "", "logins and the like that wait to be written down; further ones are only logged", "TestTellDoesNotWait"},
	{"notify", "lastWord", "", "that a stop waits for destinations to take the hash of the journal", "TestSendNow"},
	{"server", "silence", "", "that a data source may be silent before the owner is told", "TestSilentSource"},
	{"internal/address", "maxHead", "bytes", "head of a reply, of a destination or a data service", "TestClient"},

	{what: "Data sources"},
	{"market", "MaxLimit", "", "bars of one question", "TestQueriesRefused"},
	{"market", "callTime", "", "one question, waits and tries included", "TestFaults"},
	{"market", "maxAnswer", "bytes", "answer of a service", "TestFaults"},
	{"market", "maxEntries", "", "answers of one cache, such as that of bars", "TestCacheIsBounded"},
	{"market", "maxBytes", "bytes", "of them", "TestCacheIsBounded"},
	{"market", "maxFile", "bytes", "CSV file, unpacked", "TestCSVBomb"},
	{"market", "maxFiles", "", "names in a directory of CSV files; with more nothing is read", "TestCSVTooManyFiles"},
	{"market", "largeFile", "bytes", "CSV file as it is stored; larger ones and packed ones are read one at a time", "TestCSVTurn"},
}

// TestLimitsDocument holds docs/limits.md to the code: every value is read from
// the source, and every test that a row names is there and speaks of it.
// Run with -update to rewrite it.
func TestLimitsDocument(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Limits\n\nMade from the code by `go test -run TestLimitsDocument -update .`; each row names a test of the limit.\n")
	for _, l := range limits {
		if l.pkg == "" {
			fmt.Fprintf(&b, "\n## %s\n\n| limit | of | constant | test |\n|---|---|---|---|\n", l.what)
			continue
		}
		n := constant(t, l.pkg, l.name)
		in := l.pkg
		if in == "trade/book" { // it is tested through the engine
			in = "trade"
		}
		if body := testBody(t, in, l.test); body == "" {
			t.Errorf("%s.%s: there is no test %s", l.pkg, l.name, l.test)
		} else if !speaksOf(body, l, n) {
			t.Errorf("%s.%s: %s mentions neither the constant nor its value", l.pkg, l.name, l.test)
		}
		fmt.Fprintf(&b, "| %s | %s | `%s.%s` | `%s` |\n", spell(n, l.unit), l.what, l.pkg, l.name, l.test)
	}
	fmt.Fprintf(&b, renders, chart.MaxWidth, chart.MaxHeight, chart.MaxBytes, tools.RenderBytes(1), float64(tools.RenderBytes(1))/(1<<20))
	b.WriteString("\n## The operator's own\n\n| setting | default | meaning |\n|---|---|---|\n")
	for _, s := range server.Settings() {
		if strings.HasPrefix(s.Name, "max-") {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Spelling(), s.Default, s.Help)
		}
	}
	b.WriteString("\n`TestRails`, `TestOrderRate` and `TestDailyLoss` in `trade` go past them. A value that limits nothing, such as 0, is refused at the start (`TestNoLimit`).\n\n" + rates)
	sameDocument(t, "docs/limits.md", b.Bytes())
}

// renders says what charts can hold, which scripts/load flood takes for granted.
const renders = `
## Memory

Charts under way hold at most, per processor: one picture of %d x %d bytes and its file of %d bytes, and two calls that have
a file each and turn it to base64: %d bytes, %.1f MiB (` + "`TestMemoryLimit`, `TestRendersOfAll`; `wick_render_bytes_max` has the sum" + `). A call that waits holds its
arguments, which count as bytes of its token. An idle stream costs [about 27 KiB](../test/bench/README.md#streams).
` + "`scripts/load flood`" + ` lets strangers and one greedy client ask for as much as they can at once, on the sample
source, and fails when resident memory grows by more than 64 MiB beyond the charts.

A CSV file is read whole, and its rows are let go with the answer: with one chart of a file of 57 MB, 1.3 million minutes, all of wick took up to 250 MB and
about two seconds of a processor. Files of more than 8 MiB and packed ones are read one at a time; smaller files, and
answers that are remembered, do not wait for it (` + "`TestCSVTurn`" + `).

The collector is told to let the heap grow to five times what is in use (GOGC 400), within a soft limit: the rows
of server.memory…, the charts, and what is in use at the start. GOMEMLIMIT in the environment wins over the limit, and GOGC, unless it is 100, over the growth.
`

// rates are not constants but literals in one place of the code each.
const rates = `Requests of one address (an IPv6 /64), a bucket and its refill; a program on this machine has ten times as much, and a whole IPv6 /48
together four times as much (` + "`TestRateLimits`, `TestLocalLimit`, `TestSiteLimit`" + `). A program whose address is one of ` + "`--trusted-proxy`" + ` has only as much as a
stranger, and shares it with those whose ` + "`X-Forwarded-For`" + ` the proxy there left out or wrote unreadably. The buckets are
60 and 5 a second for the documents of discovery, 20 and 20 an hour to register, 100 and 100 in 15 minutes to authorize, 50 and 50 in 15
minutes to exchange a code or revoke a token. Wrong passphrases: 5, and one back a minute, over all strangers together
(` + "`TestDuty04Guesses`" + `); as many for this machine, for wick.sock, and for each IPv4 address, IPv6 /64 and IPv6 /48 from which the right one has come, the narrowest first (` + "`TestGuessBudgets`" + `).
Guesses that share such a budget are checked one after the other, so of many wrong ones at once five are checked (` + "`TestGuessesAtOnce`" + `).
An empty field is no guess (` + "`TestEmptyGuess`" + `).
`

// sameDocument compares a file with what the code says it should be.
func sameDocument(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code says: run go test -run %s -update .", name, t.Name())
	}
}

// testBody returns the text of a test function, or nothing if the package has
// none of that name.
func testBody(t *testing.T, pkg, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, rest, ok := strings.Cut(string(text), "\nfunc "+name+"("); ok {
			body, _, _ := strings.Cut(rest, "\n}\n")
			return body
		}
	}
	return ""
}

// speaksOf reports whether a test mentions a limit: by its name, or, where the
// expected value comes from outside the code, by its value, as a number, one
// past it, in words, in seconds or as a duration.
func speaksOf(body string, l limit, n int64) bool {
	words := []string{l.name, strconv.FormatInt(n, 10), strconv.FormatInt(n+1, 10), spell(n, l.unit)}
	if d := time.Duration(n); d >= time.Second {
		words = append(words, fmt.Sprintf("%d*time.Second", d/time.Second), fmt.Sprintf("%d*time.Minute", d/time.Minute), fmt.Sprintf("%d*time.Hour", d/time.Hour))
	}
	for i, word := range words {
		words[i] = regexp.QuoteMeta(word)
	}
	return regexp.MustCompile(`\b(` + strings.Join(words, "|") + `)\b`).MatchString(body)
}

// parsedFiles are the files that constant has parsed, each once.
var parsedFiles = make(map[string]*ast.File)

// constant reads a constant from the source of a package.
func constant(t *testing.T, pkg, name string) int64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed := parsedFiles[file]
		if parsed == nil {
			if parsed, err = parser.ParseFile(token.NewFileSet(), file, nil, 0); err != nil {
				t.Fatal(err)
			}
			parsedFiles[file] = parsed
		}
		for _, d := range parsed.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.ValueSpec)
				for i, n := range spec.Names {
					if n.Name == name && i < len(spec.Values) {
						return evaluate(t, spec.Values[i])
					}
				}
			}
		}
	}
	t.Fatalf("%s has no constant %s", pkg, name)
	return 0
}

// evaluate computes what our limits are written with: numbers, products,
// shifts and units of time.
func evaluate(t *testing.T, e ast.Expr) int64 {
	t.Helper()
	switch e := e.(type) {
	case *ast.BasicLit:
		n, err := strconv.ParseInt(e.Value, 0, 64)
		if err == nil {
			return n
		}
	case *ast.SelectorExpr:
		if unit, ok := map[string]time.Duration{"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}[e.Sel.Name]; ok {
			return int64(unit)
		}
	case *ast.BinaryExpr:
		x, y := evaluate(t, e.X), evaluate(t, e.Y)
		switch e.Op {
		case token.MUL:
			return x * y
		case token.SHL:
			return x << y
		}
	}
	t.Fatalf("a limit is written in a way this test does not read: %T", e)
	return 0
}

// spell writes a limit for people. What is at least a second as a duration and
// has no unit is one: no plain number of ours is that large.
func spell(n int64, unit string) string {
	switch {
	case unit == "bytes" && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case unit == "bytes" && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	case unit == "bytes":
		return fmt.Sprintf("%d bytes", n)
	case n >= int64(time.Second) && n%(24*int64(time.Hour)) == 0:
		return fmt.Sprintf("%d d", n/(24*int64(time.Hour)))
	case n >= int64(time.Hour):
		return fmt.Sprintf("%d h", n/int64(time.Hour))
	case n >= int64(time.Second):
		return fmt.Sprintf("%d s", n/int64(time.Second))
	}
	return strconv.FormatInt(n, 10)
}
