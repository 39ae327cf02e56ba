package market

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/internal/limit"
)

// Bounds of what is read, so that a mistaken directory or file cannot use up the
// memory.
const (
	maxFile   = 64 << 20 // bytes of one file, decompressed
	maxFiles  = 10000    // names in a directory
	largeFile = 8 << 20  // bytes of a file as it is stored; longer ones, and compressed ones, are read one at a time
)

// NewCSV returns a venue that reads bars from the files of one directory, which must exist. It
// opens nothing outside of it, not even through a link, and reads files anew at each question.
//
// A file is named SYMBOL-INTERVAL.csv, such as spy-1d.csv, or SYMBOL.csv; then
// the most common distance between its rows is the interval. Names ending in
// .csv.gz work too, and upper and lower case are the same. The first line names
// the columns, in any order: time, open, high, low, close and, if there are any,
// volume and extra columns. A column named symbol must be the same in all rows. Times are
// unix seconds or milliseconds, or ISO 8601,
// in UTC unless they say otherwise. Longer intervals are made from shorter ones
// by the clock in UTC. Rows that have not begun by our clock are left out; while there
// are some that begin more than two minutes later, the file gives no price to a [Feed].
//
// Allow, which may be nil, is asked about all of them now, and about the directory and the
// file of each question when they are open: what it returns an error for is not read.
func NewCSV(dir string, allow func(name string, info fs.FileInfo) error) (*Venue, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("csv: %q is not a directory", dir)
	}
	c := &csvDir{path: dir, allow: allow, turn: make(chan struct{}, 1)}
	if allow == nil {
		return c.venue(), nil
	}
	return c.venue(), c.allowAll()
}

// csvDir is a directory of files.
type csvDir struct {
	path  string
	allow func(name string, info fs.FileInfo) error // nil allows all
	turn  chan struct{}                             // has a value while somebody reads a large file
}

// allowAll asks about the directory and everything in it.
func (c *csvDir) allowAll() error {
	root, err := c.open()
	if err != nil {
		return err
	}
	defer root.Close()
	names, err := fileNames(root)
	for _, name := range names {
		if info, gone := root.Stat(name); gone == nil {
			err = cmp.Or(err, c.allow(filepath.Join(c.path, name), info))
		}
	}
	return err
}

// open opens the directory, if it is allowed. A root keeps every name, also through links,
// within it, and goes on to mean it when its name comes to mean another.
func (c *csvDir) open() (*os.Root, error) {
	root, err := os.OpenRoot(c.path)
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	info, err := root.Stat(".")
	if err == nil && c.allow != nil {
		err = c.allow(c.path, info)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// venue returns what a directory offers.
func (c *csvDir) venue() *Venue {
	return &Venue{name: "csv", resolve: c.resolve, bars: c.bars, fresh: c.bars, known: c.known, rewritten: true}
}

// bars answers q from the file with the nearest interval.
func (c *csvDir) bars(ctx context.Context, q Query) (*Series, error) {
	root, err := c.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name, iv, err := findFile(root, q)
	if err != nil {
		return nil, err
	}
	file, err := c.readFile(ctx, root, name, q)
	if err != nil {
		return nil, fmt.Errorf("csv: %s: %w", name, err)
	}
	out, err := file.answer(q, iv)
	if err != nil {
		return nil, fmt.Errorf("csv: %s: %w", name, err)
	}
	return out, nil
}

// resolve returns the symbol of the file that text means: the file of that name, or
// else the first file whose name is the same pair in another spelling. If there is none
// it returns the symbol as it was written.
func (c *csvDir) resolve(text string) (string, error) {
	_, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	names, err := c.names()
	if err != nil {
		return "", err
	}
	// Backwards, so that of several files with another spelling the first remains.
	found := symbol
	for _, name := range slices.Backward(names) {
		has, _, ok := parseName(name)
		if ok && has == symbol {
			return symbol, nil
		}
		if ok && spellPlain(has) == spellPlain(symbol) {
			found = has
		}
	}
	return found, nil
}

// known returns the symbols of the files, or none if the directory cannot be read. The
// error is not lost: a query for bars returns it.
func (c *csvDir) known() (symbols []string) {
	names, _ := c.names()
	for _, name := range names {
		if symbol, _, ok := parseName(name); ok && !slices.Contains(symbols, symbol) {
			symbols = append(symbols, symbol)
		}
	}
	return symbols
}

// findFile chooses the file for q and returns its name and interval. Of the files whose
// names have an interval it takes the one with the longest from which the bars of q can
// be made. If there is none it takes the file without an interval, and returns "" for it.
func findFile(root *os.Root, q Query) (string, Interval, error) {
	names, err := fileNames(root)
	if err != nil {
		return "", "", err
	}
	// If several files differ only in upper and lower case or compression, the first in
	// order counts. The symbols are for the error message.
	files := make(map[Interval]string)
	var have []Interval
	var symbols []string
	for _, name := range names {
		symbol, iv, ok := parseName(name)
		if ok && symbol == q.Symbol && files[iv] == "" {
			files[iv] = name
			have = append(have, iv)
		}
		if ok && !slices.Contains(symbols, symbol) && len(symbols) < 20 {
			symbols = append(symbols, symbol)
		}
	}
	if iv, ok := q.Interval.nearest(have); ok {
		return files[iv], iv, nil
	}
	if name := files[""]; name != "" {
		return name, "", nil
	}
	if len(have) > 0 {
		return "", "", fmt.Errorf("%w: csv has %q at %s only, of which bars of %s cannot be made; ask for %s", ErrTooFine, q.Symbol, spelled(have), q.Interval, spelled(madeOf(have...)))
	}
	stem, or := strings.ToLower(q.Symbol), ", one of shorter bars that make such, or"
	if q.Interval == Minute1 { // the shortest
		or = " or"
	}
	return "", "", noFile(fmt.Sprintf("csv has no file for %q: bars of %s need %s-%[2]s.csv%[4]s %[3]s.csv; it has %[5]s",
		q.Symbol, q.Interval, stem, or, cmp.Or(strings.Join(symbols, " "), "none")))
}

// noFile is the error for a symbol that the directory has no file of.
type noFile string

func (e noFile) Error() string { return string(e) }

// Is reports whether e is what target reports, for ErrUnlisted.
func (noFile) Is(target error) bool { return target == ErrUnlisted }

// names returns the names of the files in the directory, sorted.
func (c *csvDir) names() ([]string, error) {
	root, err := c.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return fileNames(root)
}

// fileNames returns the names in a directory, sorted, so that the choice between them does
// not depend on the file system. More than maxFiles are an error: without the others a file
// that is there would be said to be missing.
func fileNames(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxFiles + 1)
	switch {
	case err != nil && err != io.EOF:
		return nil, fmt.Errorf("csv: %w", err)
	case len(names) > maxFiles:
		return nil, fmt.Errorf("csv: the directory has more than %d files; keep those that are not needed in another one", maxFiles)
	}
	slices.Sort(names)
	return names, nil
}

// parseName reads SYMBOL-INTERVAL.csv or SYMBOL.csv. What follows the last dash
// is an interval only if it starts with a digit: BRK-B is a symbol.
func parseName(name string) (symbol string, iv Interval, ok bool) {
	stem, found := strings.CutSuffix(strings.TrimSuffix(strings.ToLower(name), ".gz"), ".csv")
	if !found {
		return "", "", false
	}
	if i := strings.LastIndexByte(stem, '-'); i > 0 && i+1 < len(stem) && '0' <= stem[i+1] && stem[i+1] <= '9' {
		if parsed, err := ParseInterval(stem[i+1:]); err == nil {
			stem, iv = stem[:i], parsed
		}
	}
	symbol, err := ParseSymbol(stem)
	return symbol, iv, err == nil
}

// readFile reads a file of the directory, which is decompressed if its name ends in .gz. It
// takes the time of the last change from the open file and before it reads the rows: if old
// rows got the time of a newer file, its rows would not look newer later.
func (c *csvDir) readFile(ctx context.Context, root *os.Root, name string, q Query) (*csvFile, error) {
	// This comes before the file is opened, because to open a pipe waits for a writer.
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errors.New("not a regular file"), err)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && c.allow != nil {
		err = c.allow(filepath.Join(c.path, name), info)
	}
	if err != nil {
		return nil, err
	}
	zipped := strings.HasSuffix(strings.ToLower(name), ".gz")
	if zipped || info.Size() > largeFile {
		// One reader at a time uses a processor for seconds, and memory for all rows. Others
		// are not held up, nor are answers from a cache.
		select {
		case c.turn <- struct{}{}:
			defer func() { <-c.turn }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var text io.Reader = file
	if zipped {
		if text, err = gzip.NewReader(file); err != nil {
			return nil, err
		}
	}
	return readCSV(ctx, text, info.ModTime(), q)
}

// csvFile is what a file holds.
type csvFile struct {
	rows    *Series   // those that have begun, in order of time; its interval is not set
	now     time.Time // when it was read
	newest  int64     // time of the newest row, in unix seconds, also of one that has not begun
	changed time.Time // when the file was
}

// readCSV reads the rows of a file. Of rows with equal times the last counts. A row that has
// not begun is left out, so that the bar of now is the last and forming.
func readCSV(ctx context.Context, text io.Reader, changed time.Time, q Query) (*csvFile, error) {
	f := &csvFile{rows: &Series{Symbol: q.Symbol, Source: "csv"}, now: time.Now(), changed: changed}
	inOrder, extra := true, make([][]float64, len(q.Extra))
	err := eachRow(ctx, text, q.Extra, func(b Bar, values []float64) {
		inOrder = inOrder && (f.newest < b.Time || f.rows.Len() == 0)
		f.newest = max(f.newest, b.Time)
		f.rows.Append(b)
		for i, v := range values {
			extra[i] = append(extra[i], v)
		}
	})
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	if !inOrder {
		f.rows, extra = sortRows(f.rows, extra)
	}
	for i, name := range q.Extra {
		if f.rows.Extra == nil {
			f.rows.Extra = make(map[string][]float64)
		}
		f.rows.Extra[name] = extra[i]
	}
	begun, _ := slices.BinarySearch(f.rows.Time, f.now.Unix()+1)
	switch {
	case f.rows.Len() == 0:
		return nil, errors.New("there are no rows in it")
	case begun == 0:
		return nil, fmt.Errorf("all of its rows are in the future, the newest of %s; times without a zone are in UTC", time.Unix(f.newest, 0).UTC().Format(time.DateTime))
	}
	f.rows = f.rows.Slice(0, begun)
	return f, nil
}

// sortRows puts rows and their extra columns in order of time. Of equal times it keeps the
// row that stands last.
func sortRows(rows *Series, extra [][]float64) (*Series, [][]float64) {
	order := make([]int, rows.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(rows.Time[a], rows.Time[b]), cmp.Compare(a, b)) })
	sorted, columns := &Series{Symbol: rows.Symbol, Source: rows.Source}, make([][]float64, len(extra))
	sorted.Grow(rows.Len())
	for i, n := range order {
		if i+1 < len(order) && rows.Time[order[i+1]] == rows.Time[n] {
			continue
		}
		sorted.Append(rows.Bar(n))
		for j := range extra {
			columns[j] = append(columns[j], extra[j][n])
		}
	}
	return sorted, columns
}

// eachRow calls take with each row of a file, in the order of the file; values are of the extra
// columns, and good until the next call. A bad row is an error that names its line, since the
// owner of the file can correct it. It stops early, without an error, when ctx ends.
func eachRow(ctx context.Context, text io.Reader, extra []string, take func(b Bar, values []float64)) error {
	// One byte more than allowed tells a longer file from one that just fits.
	r := &io.LimitedReader{R: text, N: maxFile + 1}
	records := csv.NewReader(r)
	records.ReuseRecord = true
	records.TrimLeadingSpace = true
	header, err := records.Read()
	if err != nil {
		return errors.New("the first line with the names of the columns is missing")
	}
	col, err := findColumns(header, extra)
	if err != nil {
		return err
	}
	of := "" // the symbol of the first row
	values := make([]float64, len(extra))
	for ctx.Err() == nil {
		record, err := records.Read()
		// Checked first: the reader may have stopped within a line, which then looks broken.
		if r.N <= 0 {
			return fmt.Errorf("longer than %d MiB", maxFile>>20)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		bar, err := col.read(record, values)
		if symbol := col.symbolOf(record); of == "" {
			of = symbol
		} else if err == nil && symbol != "" && symbol != of {
			err = fmt.Errorf("the row is of %q and the first one of %q: a file has the rows of one symbol", limit.Clip(symbol), limit.Clip(of))
		}
		if err != nil {
			line, _ := records.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
		take(bar, values)
	}
	return nil
}

// csvColumns holds the position of each value in a record.
type csvColumns struct {
	time   int
	symbol int    // -1 if there is none
	values [5]int // of open, high, low, close, volume; -1 if there is no volume
	extra  []int
}

// csvNames are the names that a column may have, in lower case: of the time,
// then of the values.
var csvNames = [6][]string{
	{"time", "timestamp", "date", "datetime", "open time", "open_time", "unix", "t"},
	{"open", "o"}, {"high", "h"}, {"low", "l"}, {"close", "c"}, {"volume", "vol", "v"},
}

// findColumns looks up the columns in the first line, whose names may be in any
// case. A byte order mark before the first is ignored.
func findColumns(header, extra []string) (c csvColumns, err error) {
	at := make(map[string]int)
	for i, name := range header {
		name = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))
		if _, twice := at[name]; !twice {
			at[name] = i
		}
	}
	// find returns the first of the names that the file has, or -1.
	find := func(names ...string) int {
		for _, name := range names {
			if i, ok := at[name]; ok {
				return i
			}
		}
		return -1
	}
	c.time, c.symbol = find(csvNames[0]...), find("symbol", "ticker")
	for i := range c.values {
		c.values[i] = find(csvNames[i+1]...)
	}
	// The volume may be missing; time and prices may not.
	if min(c.time, c.values[0], c.values[1], c.values[2], c.values[3]) < 0 {
		return c, fmt.Errorf("the first line %q does not name time, open, high, low and close", limit.Clip(strings.Join(header, ",")))
	}
	for _, name := range extra {
		i := find(name)
		if i < 0 {
			return c, fmt.Errorf("%w: the file has no %q: leave out what reads it, or name a symbol whose file has it", errNoColumn, limit.Clip(name))
		}
		c.extra = append(c.extra, i)
	}
	return c, nil
}

// read returns a record as a bar, and puts the extra columns into values. An empty volume
// counts as zero; an extra value that is not a number becomes NaN.
func (c csvColumns) read(record []string, values []float64) (b Bar, err error) {
	if b.Time, err = ParseTime(record[c.time], nil, false); err != nil {
		return b, err
	}
	for i, to := range [5]*float64{&b.Open, &b.High, &b.Low, &b.Close, &b.Volume} {
		if c.values[i] < 0 {
			continue
		}
		text := strings.TrimSpace(record[c.values[i]])
		// Only a volume may be empty.
		if *to, err = strconv.ParseFloat(text, 64); err != nil && (i < 4 || text != "") {
			return b, fmt.Errorf("%q is not a number", limit.Clip(text))
		}
	}
	for i, at := range c.extra {
		if values[i], err = strconv.ParseFloat(strings.TrimSpace(record[at]), 64); err != nil {
			values[i] = math.NaN()
		}
	}
	if err = b.Check(); err == nil && b.Low <= 0 {
		err = fmt.Errorf("price %v is not positive", b.Low)
	}
	return b, err
}

// separators are what spellings of one symbol differ in.
var separators = strings.NewReplacer("/", "", "-", "", "_", "", " ", "")

// symbolOf returns the symbol that a record names, in upper case and without separators;
// empty if it names none.
func (c csvColumns) symbolOf(record []string) string {
	if c.symbol < 0 {
		return ""
	}
	return separators.Replace(strings.ToUpper(strings.TrimSpace(record[c.symbol])))
}
