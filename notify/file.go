package notify

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/address"
	"wick/limit"
)

const (
	maxDestinations = 16
	maxFile         = 64 << 10 // bytes
	maxRate         = 100_000
	defaultRate     = 30
)

// nameShape is what a destination may be called: it appears in logs and labels.
var nameShape = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Parse reads the destinations of a file, a line each:
//
//	NAME KIND URL [key=value | flag]…
//
// A word that begins with # begins a comment. An error names the line and what is
// wrong with it, and quotes neither the address nor a value: they may be secret.
func Parse(text []byte) ([]*Destination, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("the file has more than %d bytes", maxFile)
	}
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

// parseLine reads one destination.
func parseLine(words []string) (*Destination, error) {
	if len(words) < 3 {
		return nil, errors.New("write NAME KIND URL, then key=value and flags")
	}
	d := &Destination{Name: words[0], Rate: defaultRate, Quiet: quiet{zone: time.UTC}, keys: make(map[string]string)}
	if !nameShape.MatchString(d.Name) {
		return nil, fmt.Errorf("the name %q: 1 to 32 of a-z 0-9 and -", limit.Clip(d.Name))
	}
	var known bool
	if d.service, known = services[words[1]]; !known {
		return nil, fmt.Errorf("the kind %q: one of %s", limit.Clip(words[1]), strings.Join(slices.Sorted(maps.Keys(services)), ", "))
	}
	for _, word := range words[3:] {
		if err := d.set(word); err != nil {
			return nil, err
		}
	}
	for _, key := range d.service.needs {
		if d.keys[key] == "" {
			return nil, fmt.Errorf("%s needs %s=", words[1], key)
		}
	}
	if d.Picture && !d.service.pictures {
		return nil, fmt.Errorf("%s takes no picture: leave the flag out", words[1])
	}
	return d, d.setURL(words[2])
}

// set takes one word of a line.
func (d *Destination) set(word string) (err error) {
	key, value, has := strings.Cut(word, "=")
	if flag := key == "picture" || key == "allow-private"; flag == has || has && value == "" {
		return fmt.Errorf("%q: write picture and allow-private alone, and all else as key=value", limit.Clip(key))
	}
	switch key {
	case "picture":
		d.Picture = true
	case "allow-private":
		d.private = true
	case "kinds":
		for kind := range strings.SplitSeq(value, ",") {
			if !slices.Contains(Kinds, Kind(kind)) {
				return fmt.Errorf("kinds=: %q is none of %v", limit.Clip(kind), Kinds)
			}
			d.Filter.Kinds = append(d.Filter.Kinds, Kind(kind))
		}
	case "symbols":
		d.Filter.Symbols = strings.Split(strings.ToUpper(value), ",")
	case "clients":
		d.Filter.Clients = strings.Split(value, ",")
	case "rate":
		if d.Rate, err = strconv.Atoi(value); err != nil || d.Rate < 1 || d.Rate > maxRate {
			return fmt.Errorf("rate=: messages in a minute, 1 to %d", maxRate)
		}
	case "quiet":
		d.Quiet.from, d.Quiet.to, err = parseHours(value)
	case "zone":
		if d.Quiet.zone, err = time.LoadLocation(value); err != nil {
			return fmt.Errorf("zone=%q: write a zone such as Europe/Berlin", limit.Clip(value))
		}
	case "secret":
		d.key, err = signingKey(value)
		fallthrough
	default:
		if !slices.Contains(d.service.needs, key) && !slices.Contains(d.service.takes, key) {
			return fmt.Errorf("the key %q is not one of this kind", limit.Clip(key))
		}
		d.keys[key] = value
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
		err = fmt.Errorf("quiet=%q: write hours such as 22:00-07:30", limit.Clip(text))
	}
	return a.Hour()*60 + a.Minute(), b.Hour()*60 + b.Minute(), err
}

// end returns when the quiet hours that at lies in are over, or at itself if it
// lies in none. The clock of the zone decides, also when it is set for summer.
func (q quiet) end(at time.Time) time.Time {
	local := at.In(q.zone)
	minute, day := local.Hour()*60+local.Minute(), local.Day()
	switch within := minute >= q.from && minute < q.to; {
	case q.from <= q.to && !within, q.from > q.to && minute >= q.to && minute < q.from:
		return at
	case q.from > q.to && minute >= q.from:
		day++
	}
	return time.Date(local.Year(), local.Month(), day, q.to/60, q.to%60, 0, 0, q.zone)
}

// setURL checks the address. Outside of private networks it is encrypted, so that
// no line sends its secrets in the clear.
func (d *Destination) setURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Fragment != "" || u.User != nil && !d.service.mail {
		return errors.New("the URL: write scheme://host/path, without a fragment, and with a user for mail only")
	}
	want := []string{"https", "http"}
	if d.service.mail {
		want = []string{"smtps", "smtp"}
	}
	switch {
	case !slices.Contains(want, u.Scheme):
		return fmt.Errorf("the URL: its scheme must be %s", want[0])
	case u.Scheme == "http" && !d.private:
		return errors.New("the URL: http is for private addresses, with the flag allow-private; write https")
	}
	d.url = u
	d.client = address.Client(requestTime, d.may())
	return nil
}

// signingKey returns the bytes of a webhook's secret: base64 after whsec_, as
// Standard Webhooks writes it, 24 to 64 bytes.
func signingKey(secret string) ([]byte, error) {
	coded, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("secret=: write whsec_ and 24 to 64 bytes in base64, such as the output of: echo whsec_$(openssl rand -base64 32)")
	}
	return key, nil
}

// redact makes a text fit to be shown: one line, without the destination's
// secrets. These are the values of its keys, and of its URL all but scheme and
// host: a topic or a path is often the only secret there is.
func (d *Destination) redact(text string) string {
	password, _ := d.url.User.Password()
	secrets := append(slices.Collect(maps.Values(d.keys)), password, d.url.User.Username(), d.url.RawQuery, strings.Trim(d.url.Path, "/"))
	for part := range strings.SplitSeq(d.url.Path, "/") {
		if len(part) >= 8 { // shorter ones are words of the service's own
			secrets = append(secrets, part)
		}
	}
	for _, secret := range secrets {
		secrets = append(secrets, url.PathEscape(secret), url.QueryEscape(secret))
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be part of another
	for _, secret := range secrets {
		if len(secret) >= 3 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return limit.Line(text, maxText)
}
