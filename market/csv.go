package market

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/limit"
)

// Bounds of what is read, so that a mistaken directory or file cannot use up the
// memory.
const (
	maxFile  = 64 << 20 // bytes of one file, decompressed
	maxFiles = 10000    // names looked at in a directory
)

// CSV reads bars from the files of one directory. It opens nothing outside of
// it, not even through a link.
//
// A file is named SYMBOL-INTERVAL.csv, such as spy-1d.csv, or SYMBOL.csv; then
// the most common distance between its rows is the interval. Names ending in
// .csv.gz work too, and upper and lower case are the same. The first line names
// the columns, in any order: time, open, high, low, close and, if there are any,
// volume and extra columns. Times are unix seconds or milliseconds, or ISO 8601,
// in UTC unless they say otherwise. Longer intervals are made from shorter ones
// by the clock in UTC.
type CSV struct{ dir string }

// NewCSV returns a source of the files in dir, which must exist. Files are read
// anew at each question.
func NewCSV(dir string) (*CSV, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("csv: %q is not a directory", dir)
	}
	return &CSV{dir: dir}, nil
}

// Bars answers q from the file with the nearest interval.
func (c *CSV) Bars(ctx context.Context, q Query) (*Series, error) {
	q, err := q.checked(c)
	if err != nil {
		return nil, err
	}
	// A root keeps every name, also through links, within the directory.
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	defer root.Close()
	name, iv, err := findFile(root, q)
	if err != nil {
		return nil, err
	}
	s, changed, err := readFile(ctx, root, name, q.Extra)
	if err != nil {
		return nil, fmt.Errorf("csv: %s: %w", name, err)
	}
	if iv == "" {
		iv, err = spacing(s.Time)
		if err != nil {
			return nil, fmt.Errorf("csv: %s: %w", name, err)
		}
	}
	s.Symbol, s.Interval, s.Source, s.AsOf = q.Symbol, iv, "csv", time.Now().UnixMilli()
	// A price of a closed bar is as old as its end.
	s.PriceAt = iv.Next(s.Time[s.Len()-1]) * 1000
	if s.PriceAt > s.AsOf { // the last bar is forming: it is as new as the file
		s.PriceAt = min(changed.UnixMilli(), s.AsOf)
	}
	out, err := s.coarse(q)
	if err != nil {
		return nil, fmt.Errorf("csv: %s: %w", name, err)
	}
	return out, nil
}

// coarse returns the bars that q asks for, made from s, which has all bars of a file. It
// returns an error if the bars of the file are too long for that.
func (s *Series) coarse(q Query) (*Series, error) {
	if !q.Interval.holds(s.Interval) {
		return nil, fmt.Errorf("%w: bars of %s cannot be made of bars of %s; ask for %s or longer", ErrTooFine, q.Interval, s.Interval, s.Interval)
	}
	whole := resample(s, q.Interval, nil, s.completeUntil(s.AsOf/1000))
	whole.Gaps = findGaps(whole, s.closes())
	tail := whole.Tail(q.Limit)
	tail.Grow(0) // a copy: a cache must not hold the whole file for a few bars
	tail.Gaps = slices.Clone(tail.Gaps)
	return tail, tail.Check()
}

// completeUntil returns until when the rows of a file are complete at the time now, both
// in unix seconds: until the end of the last one, and in any case until the length of a
// row before now. A row is written when it has ended, perhaps a little later, so the one
// that ended last may be on its way. One that is still missing after its own length had
// no trade or stands in a night, and no longer bar waits for it.
func (s *Series) completeUntil(now int64) int64 {
	return max(min(s.Interval.Next(s.Time[s.Len()-1]), now), now-s.Interval.Seconds())
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
		return "", "", fmt.Errorf("%w: csv has %q at %s only and makes longer bars of them, not %s", ErrTooFine, q.Symbol, spelled(have), q.Interval)
	}
	stem, or := strings.ToLower(q.Symbol), ", one of shorter bars that make such, or"
	if q.Interval == Minute1 { // the shortest
		or = " or"
	}
	return "", "", fmt.Errorf("csv has no file for %q: bars of %s need %s-%[2]s.csv%[4]s %[3]s.csv; it has %[5]s",
		q.Symbol, q.Interval, stem, or, cmp.Or(strings.Join(symbols, " "), "none"))
}

// names returns the names of the files in the directory, sorted.
func (c *CSV) names() ([]string, error) {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	defer root.Close()
	return fileNames(root)
}

// fileNames returns at most maxFiles names in a directory, sorted, so that the choice
// between them does not depend on the file system.
func fileNames(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxFiles)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("csv: %w", err)
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

// readFile reads a file of the directory, decompressed if its name ends in .gz. It also
// returns when the file was last changed. It takes that time from the open file and
// before it reads the rows: if old rows got the time of a newer file, its rows would not
// look newer later.
func readFile(ctx context.Context, root *os.Root, name string, extra []string) (s *Series, changed time.Time, err error) {
	// This comes before the file is opened, because to open a pipe waits for a writer.
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, changed, errors.Join(errors.New("not a regular file"), err)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, changed, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, changed, err
	}
	var r io.Reader = file
	if strings.HasSuffix(strings.ToLower(name), ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			return nil, changed, err
		}
	}
	s, err = readCSV(ctx, &io.LimitedReader{R: r, N: maxFile + 1}, extra)
	return s, info.ModTime(), err
}

// readCSV returns the rows of a file as a series, sorted by time; of rows with
// equal times it takes the last. A bad row is an error that names its line,
// since the owner of the file can correct it.
func readCSV(ctx context.Context, r *io.LimitedReader, extra []string) (*Series, error) {
	records := csv.NewReader(r)
	records.ReuseRecord = true
	records.TrimLeadingSpace = true
	header, err := records.Read()
	if err != nil {
		return nil, errors.New("the first line with the names of the columns is missing")
	}
	col, err := findColumns(header, extra)
	if err != nil {
		return nil, err
	}
	rows, err := col.readAll(ctx, records, r)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.Join(ctx.Err(), errors.New("there are no rows in it"))
	}
	// Stable, so that of equal times the row that stands later in the file comes last.
	slices.SortStableFunc(rows, func(a, b csvRow) int { return byTime(a.Bar, b.Bar) })
	s := &Series{}
	s.Grow(len(rows))
	for i, row := range rows {
		if i+1 < len(rows) && rows[i+1].Time == row.Time {
			continue
		}
		s.Append(row.Bar)
		for j, name := range extra {
			if s.Extra == nil {
				s.Extra = make(map[string][]float64, len(extra))
			}
			s.Extra[name] = append(s.Extra[name], row.extra[j])
		}
	}
	return s, ctx.Err()
}

// readAll returns the rows below the first line. It stops early when ctx ends. R is what
// records reads from; if nothing remains of its limit, the file is too long.
func (c csvColumns) readAll(ctx context.Context, records *csv.Reader, r *io.LimitedReader) ([]csvRow, error) {
	var rows []csvRow
	for ctx.Err() == nil {
		record, err := records.Read()
		// Checked first: the reader may have stopped within a line, which then looks broken.
		if r.N <= 0 {
			return nil, fmt.Errorf("longer than %d MiB", maxFile>>20)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		row, err := c.read(record)
		if err != nil {
			line, _ := records.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// csvRow is one line: a bar and the extra columns that were asked for.
type csvRow struct {
	Bar
	extra []float64
}

// csvColumns holds the position of each value in a record.
type csvColumns struct {
	time   int
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
	c.time = find(csvNames[0]...)
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
			return c, fmt.Errorf("%w: the file has no %q", errNoColumn, limit.Clip(name))
		}
		c.extra = append(c.extra, i)
	}
	return c, nil
}

// read returns a record as a row. An empty volume counts as zero; an extra value
// that is not a number becomes NaN.
func (c csvColumns) read(record []string) (row csvRow, err error) {
	if row.Time, err = parseTime(strings.TrimSpace(record[c.time])); err != nil {
		return row, err
	}
	for i, to := range [5]*float64{&row.Open, &row.High, &row.Low, &row.Close, &row.Volume} {
		if c.values[i] < 0 {
			continue
		}
		text := strings.TrimSpace(record[c.values[i]])
		// Only a volume may be empty.
		if *to, err = strconv.ParseFloat(text, 64); err != nil && (i < 4 || text != "") {
			return row, fmt.Errorf("%q is not a number", limit.Clip(text))
		}
	}
	for _, i := range c.extra {
		v, err := strconv.ParseFloat(strings.TrimSpace(record[i]), 64)
		if err != nil {
			v = math.NaN()
		}
		row.extra = append(row.extra, v)
	}
	if err = row.Check(); err == nil && row.Low <= 0 {
		err = fmt.Errorf("price %v is not positive", row.Low)
	}
	return row, err
}

// timeLayouts are the forms of ISO 8601 in use; without a zone they mean UTC.
var timeLayouts = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly, "20060102",
}

// parseTime returns a time in unix seconds. Eight digits are a date; other
// numbers are seconds since 1970 if that is before the year 5138, and else
// milliseconds.
func parseTime(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) != 8 {
		switch {
		case n >= 1e14 || n < 0:
			return 0, fmt.Errorf("time %q is neither seconds nor milliseconds since 1970", limit.Clip(text))
		case n >= 1e11:
			n /= 1000
		}
		return n, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Unix(), nil
		}
	}
	return 0, fmt.Errorf("time %q is neither a number since 1970 nor ISO 8601", limit.Clip(text))
}

// spacing returns the interval that is most often the distance between two
// neighbouring rows. From 28 to 31 days count as a month.
func spacing(times []int64) (Interval, error) {
	count := make(map[Interval]int)
	best := Interval("")
	for i := 1; i < len(times); i++ {
		apart := times[i] - times[i-1]
		if apart >= 28*day && apart <= 31*day {
			apart = month
		}
		for _, iv := range Intervals() {
			if iv.Seconds() == apart {
				count[iv]++
				if count[iv] > count[best] {
					best = iv
				}
			}
		}
	}
	if best == "" {
		return "", errors.New("its rows are spaced like no interval; name the file SYMBOL-INTERVAL.csv")
	}
	return best, nil
}

// closes returns a session if the rows of a file are those of an exchange, whose nights
// and weekends do not count as gaps, and nil if the market never closes. A market never
// closes if there are rows on at least half of the Saturdays and half of the Sundays
// between the first row and the last: an exchange may be open on one Saturday, or on all
// of them, but then not on Sundays. Bars longer than a day do not show that; of those,
// only a pair with a coin never closes.
func (s *Series) closes() *session {
	saturdays, ofSaturdays := rowsOn(s.Time, 2*day) // 1970-01-03
	sundays, ofSundays := rowsOn(s.Time, 3*day)
	never := saturdays > 0 && 2*saturdays >= ofSaturdays && 2*sundays >= ofSundays
	if s.Interval.Seconds() > day {
		base, _, pair := splitPair(s.Symbol)
		never = pair && !fiat[base]
	}
	if never {
		return nil
	}
	return &session{zone: time.UTC}
}

// rowsOn looks at the dates that are a whole number of weeks from the date first, between
// the first and the last of times. It returns how many of them have rows, and how many
// there are.
func rowsOn(times []int64, first int64) (with, all int64) {
	weeks := func(t int64) int64 { return floor(t-first, week) / week }
	before := weeks(times[0] - day)
	last := before
	for _, t := range times {
		if n := weeks(t); n > last && t < first+n*week+day {
			with, last = with+1, n
		}
	}
	return with, weeks(times[len(times)-1]) - before
}
