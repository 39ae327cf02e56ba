package notify

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/notify/service"
)

const (
	maxDestinations = 16
	maxRate         = 100_000 // messages in a minute
	defaultRate     = 30      // the same, for a line without rate=
)

// Destination is where messages go: a line of the owner's file.
type Destination struct {
	*service.Destination
	Name    string
	Filter  Filter
	Rate    int  // messages in a minute; what is more becomes one summary
	Picture bool // whether messages have a chart
	Quiet   quiet
}

// nameShape is what a destination may be called: it appears in logs and labels.
var nameShape = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Parse reads the destinations of a file, a line each:
//
//	NAME KIND URL [key=value | flag]…
//
// A word that begins with # begins a comment. An error names the line, the number of the
// word and what is wrong with it, but does not quote it: an address or a secret may be in
// the wrong place.
func Parse(text []byte) ([]*Destination, error) {
	var all []*Destination
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		words := strings.Fields(line)
		if i := slices.IndexFunc(words, func(w string) bool { return w[0] == '#' }); i >= 0 {
			words = words[:i]
		}
		if len(words) == 0 {
			continue
		}
		d, err := parseLine(words)
		switch {
		case err != nil:
		case slices.ContainsFunc(all, func(other *Destination) bool { return other.Name == d.Name }):
			err = fmt.Errorf("the name %q is taken", d.Name)
		case len(all) == maxDestinations:
			err = fmt.Errorf("more than %d destinations", maxDestinations)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		all = append(all, d)
	}
	if len(all) == 0 {
		return nil, errors.New("no destination: write lines such as: phone ntfy https://ntfy.example.com/topic")
	}
	return all, nil
}

// parseLine reads the words of one line: the name of the destination, the kind of its
// service, its URL, then settings and the service's keys.
func parseLine(words []string) (*Destination, error) {
	if len(words) < 3 {
		return nil, errors.New("write NAME KIND URL, then key=value and flags")
	}
	d := &Destination{Name: words[0], Rate: defaultRate, Quiet: quiet{zone: time.UTC}}
	if !nameShape.MatchString(d.Name) {
		return nil, errors.New("the name, which stands first: 1 to 32 of a-z 0-9 and -")
	}
	// Words that are not settings of ours are keys of the service, which checks them.
	keys, private := make(map[string]string), false
	for i, word := range words[3:] {
		key, value, has := strings.Cut(word, "=")
		// A flag has no value, and everything else has one.
		var err error
		switch flag := key == "picture" || key == "allow-private"; {
		case flag == has || has && value == "":
			err = errors.New("write picture and allow-private alone, and all else as key=value")
		case key == "allow-private":
			private = true
		default:
			err = d.set(key, value, keys)
		}
		if err != nil {
			return nil, fmt.Errorf("word %d: %w", i+4, err)
		}
	}
	to, err := service.New(words[1], words[2], keys, private)
	if err == nil && d.Picture && !to.TakesPictures() {
		err = fmt.Errorf("%s takes no picture: leave the flag out", words[1])
	}
	d.Destination = to
	return d, err
}

// set takes a setting of a line. If it is not one of ours it puts it into keys.
func (d *Destination) set(key, value string, keys map[string]string) (err error) {
	switch key {
	case "picture":
		d.Picture = true
	case "symbols":
		d.Filter.Symbols = strings.Split(strings.ToUpper(value), ",")
	case "clients":
		d.Filter.Clients = strings.Split(value, ",")
	case "kinds":
		for kind := range strings.SplitSeq(value, ",") {
			if !slices.Contains(Kinds, Kind(kind)) {
				return fmt.Errorf("kinds=: some of %v, with commas", Kinds)
			}
			d.Filter.Kinds = append(d.Filter.Kinds, Kind(kind))
		}
	case "rate":
		if d.Rate, err = strconv.Atoi(value); err != nil || d.Rate < 1 || d.Rate > maxRate {
			err = fmt.Errorf("rate=: messages in a minute, 1 to %d", maxRate)
		}
	case "quiet":
		d.Quiet.from, d.Quiet.to, err = parseHours(value)
	case "zone":
		if d.Quiet.zone, err = time.LoadLocation(value); err != nil {
			err = errors.New("zone=: write a zone such as Europe/Berlin")
		}
	default:
		keys[key] = value
	}
	return err
}

// quiet are the hours of a day in which a destination gets nothing.
type quiet struct {
	from, to int // minutes after midnight; equal means none
	zone     *time.Location
}

// parseHours reads hours such as 22:00-07:30.
func parseHours(text string) (from, to int, err error) {
	first, second, _ := strings.Cut(text, "-")
	a, err1 := time.Parse("15:04", first)
	b, err2 := time.Parse("15:04", second)
	if err1 != nil || err2 != nil {
		err = errors.New("quiet=: write hours such as 22:00-07:30")
	}
	return a.Hour()*60 + a.Minute(), b.Hour()*60 + b.Minute(), err
}

// end returns when the quiet hours end if at is within them, or otherwise at itself. It
// goes by the local time of the zone, with its summer time.
func (q quiet) end(at time.Time) time.Time {
	local := at.In(q.zone)
	minute, day := local.Hour()*60+local.Minute(), local.Day()
	// Hours such as 22:00-07:30 go past midnight. For a time before midnight they end the
	// next day.
	switch within := minute >= q.from && minute < q.to; {
	case q.from <= q.to && !within, q.from > q.to && minute >= q.to && minute < q.from:
		return at
	case q.from > q.to && minute >= q.from:
		day++
	}
	return time.Date(local.Year(), local.Month(), day, q.to/60, q.to%60, 0, 0, q.zone)
}
