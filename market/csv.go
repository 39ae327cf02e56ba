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
// the columns, in any order: time, open, high, low, close and, if there is one,
// volume; others are ignored. A column named symbol must be the same in all rows. Times are
// unix seconds or milliseconds, or ISO 8601,
// in UTC unless they say otherwise. Longer intervals are made from shorter ones
// by the clock in UTC. Rows that have not begun by our clock are left out; while there
// are some that begin more than two minutes later, the file gives no price to a [Feed].
//
// Allow, which may be nil, is asked about all of these now, and about the directory and the
// file of each question when they are open: what it returns an error for is not read.
func NewCSV(dir string, allow func(name string, info fs.FileInfo) error) (*Venue, error) {
	if allow == nil {
		allow = func(string, fs.FileInfo) error { return nil }
	}
	c := &csvDir{path: dir, allow: allow, turn: make(chan struct{}, 1)}
	err := c.look(func(root *os.Root, files []csvName) (err error) {
		for _, file := range files {
			if info, gone := root.Stat(file.name); gone == nil {
				err = cmp.Or(err, allow(filepath.Join(dir, file.name), info))
			}
		}
		return err
	})
	return c.venue(), err
}

func (c *csvDir) venue() *Venue {
	return &Venue{name: "csv", resolve: c.resolve, bars: c.bars, known: c.known}
}

type csvDir struct {
	path  string
	allow func(name string, info fs.FileInfo) error
	turn  chan struct{} // has a value while somebody reads a large file
}

// look calls use with the directory, if it is allowed, and the files with bars in it, sorted by name,
// so that the choice between them does not depend on the file system. A root keeps every name, also through
// links, within it, and goes on to mean it when its name comes to mean another. More than maxFiles
// names are an error: without the others a file that is there would be said to be missing.
func (c *csvDir) look(use func(root *os.Root, files []csvName) error) error {
	root, err := os.OpenRoot(c.path)
	if err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	defer dir.Close()
	info, err := dir.Stat()
	if err == nil {
		err = c.allow(c.path, info)
	}
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(maxFiles + 1)
	switch {
	case err != nil && err != io.EOF:
		return fmt.Errorf("csv: %w", err)
	case len(names) > maxFiles:
		return fmt.Errorf("csv: the directory has more than %d files; keep those that are not needed in another one", maxFiles)
	}
	slices.Sort(names)
	var files []csvName
	for _, name := range names {
		if symbol, iv, ok := parseName(name); ok {
			files = append(files, csvName{symbol, iv, name})
		}
	}
	return use(root, files)
}

type csvName struct {
	symbol string
	iv     Interval // "" if it has none
	name   string
}

// bars answers q from the file with the nearest interval.
func (c *csvDir) bars(ctx context.Context, q Query) (*Series, error) {
	var out *Series
	err := c.look(func(root *os.Root, files []csvName) error {
		found, err := findFile(files, q)
		if err != nil {
			return err
		}
		file, err := c.readFile(ctx, root, found.name)
		if err == nil {
			out, err = file.answer(q, found.iv)
		}
		if err != nil {
			return fmt.Errorf("csv: %s: %w", found.name, err)
		}
		return nil
	})
	return out, err
}

// resolve returns the symbol of the file that text means: the file of that name, or
// else the first file whose name is the same pair in another spelling. If there is none
// it returns the symbol as it was written.
func (c *csvDir) resolve(text string) (string, error) {
	_, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	err = c.look(func(_ *os.Root, files []csvName) error {
		means := func(file csvName) bool { return file.symbol == symbol }
		if !slices.ContainsFunc(files, means) {
			means = func(file csvName) bool { return spellPlain(file.symbol) == spellPlain(symbol) }
		}
		if i := slices.IndexFunc(files, means); i >= 0 {
			symbol = files[i].symbol
		}
		return nil
	})
	return symbol, err
}

// known returns the symbols of the files, or none if the directory cannot be read. The
// error is not lost: a query for bars returns it.
func (c *csvDir) known() (symbols []string) {
	_ = c.look(func(_ *os.Root, files []csvName) error {
		symbols = symbolsOf(files)
		return nil
	})
	return symbols
}

func symbolsOf(files []csvName) (symbols []string) {
	for _, file := range files {
		if !slices.Contains(symbols, file.symbol) {
			symbols = append(symbols, file.symbol)
		}
	}
	return symbols
}

// findFile chooses the file for q. Of the files whose names have an interval it takes the one
// with the longest from which the bars of q can be made. If there is none it takes the file
// without an interval. If several differ only in upper and lower case or compression, the first
// counts.
func findFile(all []csvName, q Query) (csvName, error) {
	files := make(map[Interval]csvName)
	var have []Interval
	for _, file := range slices.Backward(all) {
		if file.symbol == q.Symbol {
			files[file.iv] = file
			have = append(have, file.iv)
		}
	}
	if iv, ok := q.Interval.nearest(have); ok {
		return files[iv], nil
	}
	if file, ok := files[""]; ok {
		return file, nil
	}
	if len(have) > 0 {
		return csvName{}, fmt.Errorf("%w: csv has %q at %s only, of which bars of %s cannot be made", ErrTooFine, q.Symbol, spelled(have), q.Interval)
	}
	symbols := symbolsOf(all)
	return csvName{}, noFile(fmt.Sprintf("csv has no file for %q: bars of %s need %s-%[2]s.csv, one of shorter bars that make such, or %[3]s.csv; it has %[4]s",
		q.Symbol, q.Interval, strings.ToLower(q.Symbol), cmp.Or(strings.Join(symbols[:min(len(symbols), 20)], " "), "none")))
}

// noFile is the error for a symbol that the directory has no file of.
type noFile string

func (e noFile) Error() string        { return string(e) }
func (e noFile) Is(target error) bool { return target == ErrUnlisted }

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
func (c *csvDir) readFile(ctx context.Context, root *os.Root, name string) (*csvFile, error) {
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
	if err == nil {
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
	return readCSV(ctx, text, info.ModTime())
}

// csvFile is what a file has, as far as it has begun.
type csvFile struct {
	rows    []Bar     // in order of time
	now     time.Time // when it was read
	newest  int64     // time of the newest row, in unix seconds, also of one that has not begun
	changed time.Time // when the file was
}

// readCSV reads the rows of a file. Of rows with equal times the last counts. A row that has
// not begun is left out, so that the bar of now is the last and forming. A bad row is an error
// that names its line, since the owner of the file can correct it.
func readCSV(ctx context.Context, text io.Reader, changed time.Time) (*csvFile, error) {
	// One byte more than allowed tells a longer file from one that just fits.
	r := &io.LimitedReader{R: text, N: maxFile + 1}
	records := csv.NewReader(r)
	records.ReuseRecord = true
	records.TrimLeadingSpace = true
	header, err := records.Read()
	if err != nil {
		return nil, errors.New("the first line with the names of the columns is missing")
	}
	col, err := findColumns(header)
	if err != nil {
		return nil, err
	}
	f := &csvFile{now: time.Now(), newest: math.MinInt64, changed: changed}
	for {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		record, err := records.Read()
		if r.N <= 0 { // the reader may have stopped within a line, which then looks broken
			return nil, fmt.Errorf("longer than %d MiB", maxFile>>20)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		bar, err := col.read(record)
		if err != nil {
			line, _ := records.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if f.newest = max(f.newest, bar.Time); bar.Time <= f.now.Unix() {
			f.rows = append(f.rows, bar)
		}
	}
	switch {
	case f.newest == math.MinInt64:
		return nil, errors.New("there are no rows in it")
	case len(f.rows) == 0:
		return nil, fmt.Errorf("all of its rows are in the future, the newest of %s; times without a zone are in UTC", time.Unix(f.newest, 0).UTC().Format(time.DateTime))
	}
	f.rows = inOrder(f.rows)
	return f, nil
}

// csvColumns says where in a record the values are.
type csvColumns struct {
	at [len(csvNames)]int // -1 if there is none
	of string             // the symbol of the first row that names one
}

// csvNames are the names that a column may have, in lower case, the preferred one first.
var csvNames = [...][]string{
	{"time", "timestamp", "date", "datetime", "open time", "open_time", "unix", "t"},
	{"open", "o"}, {"high", "h"}, {"low", "l"}, {"close", "c"}, {"volume", "vol", "v"}, {"symbol", "ticker"},
}

// findColumns looks up the columns in the first line, whose names may be in any
// case. A byte order mark before the first is ignored.
func findColumns(header []string) (c csvColumns, err error) {
	var has []string
	for _, name := range header {
		has = append(has, strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))))
	}
	for i, names := range csvNames {
		c.at[i] = -1
		for _, name := range slices.Backward(names) {
			if at := slices.Index(has, name); at >= 0 { // of equal names the first counts
				c.at[i] = at
			}
		}
	}
	if slices.Min(c.at[:5]) < 0 { // volume and symbol may be missing
		return c, fmt.Errorf("the first line %q does not name time, open, high, low and close", limit.Clip(strings.Join(header, ",")))
	}
	return c, nil
}

// read returns a record as a bar. An empty volume counts as zero.
func (c *csvColumns) read(record []string) (b Bar, err error) {
	// The values are in the order of csvNames.
	if b.Time, err = ParseTime(record[c.at[0]], nil, false); err != nil {
		return b, err
	}
	for i, to := range [5]*float64{&b.Open, &b.High, &b.Low, &b.Close, &b.Volume} {
		at := c.at[i+1]
		if at < 0 {
			continue
		}
		text := strings.TrimSpace(record[at])
		// Only a volume may be empty.
		if *to, err = strconv.ParseFloat(text, 64); err != nil && (i < 4 || text != "") {
			return b, fmt.Errorf("%q is not a number", limit.Clip(text))
		}
	}
	if at := c.at[6]; at >= 0 {
		if c.of = cmp.Or(c.of, record[at]); record[at] != c.of {
			return b, fmt.Errorf("the row is of %q and the first one of %q: a file has the rows of one symbol", limit.Clip(record[at]), limit.Clip(c.of))
		}
	}
	return b, cmp.Or(b.Check(), b.positive())
}

// answer returns the bars that q asks for. The rows of the file are of the interval iv, or of
// the one that is most often their distance if that is "". It returns an error if they are too
// long.
func (f *csvFile) answer(q Query, iv Interval) (*Series, error) {
	n := len(f.rows)
	if iv = cmp.Or(iv, usualDistance(f.rows)); iv == "" {
		return nil, errors.New("its rows are spaced like no interval; name the file SYMBOL-INTERVAL.csv")
	}
	if !q.Interval.holds(iv) {
		return nil, fmt.Errorf("%w: bars of %s cannot be made of bars of %s", ErrTooFine, q.Interval, iv)
	}
	s := resample(Series{Symbol: q.Symbol, Source: "csv", Rewritten: true, AsOf: f.now.UnixMilli()}, f.rows, q.Interval, nil, 0)
	// A price of a closed bar is as old as its end; while the last row is forming it is as
	// new as the file.
	s.PriceAt = iv.Next(f.rows[n-1].Time) * 1000
	if s.PriceAt > s.AsOf {
		s.PriceAt = min(f.changed.UnixMilli(), s.AsOf)
	}
	if f.newest > f.now.Unix()+maxAhead {
		s.ahead = f.newest * 1000
	}
	s.Gaps = findGaps(s, f.session(q.Symbol, iv))
	s = s.Tail(q.Limit)
	s.Grow(0) // a cache must not hold more for a few bars
	for _, start := range s.Time {
		if d := f.delay(start, q.Interval.Next(start), iv); d.Offset+d.Missing != 0 {
			s.Delayed = append(s.Delayed, d)
		}
	}
	s.Forming = s.ClosedAt(s.Len()-1) > f.now.Unix()
	return s, s.Check()
}

// delay returns how long after its end the bar from start to end closes. Rows are of the
// interval iv.
//
// A row is written when it has ended, perhaps a little later, so the one that ended last may
// be on its way. One that is still missing after its own length had no trade or stands in a
// night, and no longer bar waits for it.
//
// A row counts for the bar in which it begins. If rows do not begin on the borders of iv, as
// the hours of New York at 9:30, the last one of each bar ends that much after the bar, so
// bars are complete that much later.
func (f *csvFile) delay(start, end int64, iv Interval) Delay {
	next, _ := slices.BinarySearchFunc(f.rows, Bar{Time: end}, byTime)
	last := f.rows[next-1].Time
	border := iv.Next(iv.Start(last)) // where the row would end if it began on the border
	d := Delay{Start: start, Offset: iv.Next(last) - border}
	if border < end {
		d.Missing = iv.Seconds()
	}
	return d
}

// usualDistance returns the interval that two rows are most often apart, of equal ones the first
// that was so often; "" if there is none. From 28 to 31 days count as a month.
func usualDistance(rows []Bar) (common Interval) {
	counts := make(map[Interval]int)
	for i := 1; i < len(rows); i++ {
		apart := rows[i].Time - rows[i-1].Time
		if apart >= 28*day && apart <= 31*day {
			apart = month
		}
		if iv, ok := ofLength[apart]; ok {
			if counts[iv]++; counts[iv] > counts[common] {
				common = iv
			}
		}
	}
	return common
}

// session returns a session if the rows, which are of the interval iv, are those of an
// exchange, whose nights and weekends do not count as gaps, and nil if the market never
// closes. A market never closes if there are rows on at least half of the Saturdays and
// half of the Sundays between the first row and the last: an exchange may be open on one
// Saturday, or on all of them, but then not on Sundays. Bars
// longer than a day do not show that; of those, only a pair with a coin never closes.
func (f *csvFile) session(symbol string, iv Interval) *session {
	exchange := &session{zone: time.UTC}
	if iv.Seconds() > day {
		if base, _, pair := splitPair(symbol); pair && !fiat[base] {
			return nil
		}
		return exchange
	}
	var traded, all [7]int // by weekday: how many dates have rows, and how many there are
	for i, end := 0, floor(f.rows[0].Time, day)+day; i < len(f.rows); end += day {
		weekday := time.Unix(end-1, 0).UTC().Weekday()
		all[weekday]++
		if f.rows[i].Time < end {
			traded[weekday]++
		}
		for i < len(f.rows) && f.rows[i].Time < end {
			i++
		}
	}
	half := func(weekday time.Weekday) bool { return 2*traded[weekday] >= all[weekday] }
	if traded[time.Saturday] > 0 && half(time.Saturday) && half(time.Sunday) {
		return nil
	}
	return exchange
}
