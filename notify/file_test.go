package notify

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	all, err := Parse([]byte(`
# destinations of the owner
phone ntfy https://ntfy.example.com/wick kinds=alert,fill picture # the phone
hook  webhook https://10.0.0.5/in secret=` + testSecret + ` allow-private rate=100 quiet=22:00-07:00 zone=Europe/Berlin
mail email smtps://me:pass%20word@mail.example.com from=a@example.com to=b@example.com,c@example.com symbols=btcusdt clients=claude,cursor
`))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %v %t %d | %s %t %d %d %d %s | %s %v %v", all[0].Name, all[0].Filter.Kinds, all[0].Picture, all[0].Rate,
		all[1].Name, all[1].Destination != nil, all[1].Rate, all[1].Quiet.from, all[1].Quiet.to, all[1].Quiet.zone, all[2].Name, all[2].Filter.Symbols, all[2].Filter.Clients)
	if want := "phone [alert fill] true 30 | hook true 100 1320 420 Europe/Berlin | mail [BTCUSDT] [claude cursor]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestParseRefused: each refusal names the line and the fault, and quotes neither
// address nor value.
func TestParseRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "no destination",
		"# only a comment":                  "no destination",
		"phone ntfy":                        "NAME KIND URL",
		"Phone ntfy https://e.com/SECRETTT": "the name",
		"phone sms https://e.com/SECRETTT":  "the kind",
		"phone ntfy https://e.com/SECRETTT kinds=alert,boom":    "kinds=: some of [alert fill",
		"phone ntfy http://e.com/SECRETTT":                      "allow-private",
		"phone ntfy ftp://e.com/SECRETTT":                       "scheme must be https",
		"phone ntfy https://u:SECRETTT@e.com/x":                 "with a user for mail only",
		"phone ntfy https://e.com/x#SECRETTT":                   "without a fragment",
		"phone ntfy https://%zz/SECRETTT":                       "the URL",
		"phone ntfy https:///SECRETTT":                          "the URL",
		"phone ntfy https://e.com/x toke=SECRETTT":              "the keys of ntfy itself are: token",
		"phone ntfy https://e.com/x SECRETTT":                   "word 4",
		"phone ntfy https://e.com/x picture SECRETTT=":          "word 5",
		"phone ntfy https://e.com/x SECRETTT==":                 "the keys of ntfy itself are: token",
		"ntfy https://e.com/SECRETTT picture":                   "the kind",
		"https://e.com/SECRETTT ntfy picture":                   "the name",
		"phone ntfy https://e.com/x kinds=alert,SECRETTT":       "kinds=",
		"phone ntfy https://e.com/x quiet=SECRETTT":             "22:00-07:30",
		"phone ntfy https://e.com/x zone=SECRETTT":              "Europe/Berlin",
		"phone ntfy https://e.com/x token=\x1b[2JSECRETTT":      "control characters",
		"phone ntfy https://e.com/x picture=yes":                "alone",
		"phone ntfy https://e.com/x token":                      "key=value",
		"phone ntfy https://e.com/x token=":                     "key=value",
		"phone ntfy https://e.com/x rate=0":                     "1 to 100000",
		"phone ntfy https://e.com/x rate=100001":                "1 to 100000",
		"phone ntfy https://e.com/x quiet=22-7":                 "22:00-07:30",
		"phone ntfy https://e.com/x zone=Mars/Base":             "Europe/Berlin",
		"tg telegram https://api.telegram.org token=SECRETTT":   "telegram needs chat=",
		"sl slack https://hooks.slack.com/SECRETTT picture":     "takes no picture",
		"hook webhook https://e.com/x secret=SECRETTT":          "whsec_",
		"hook webhook https://e.com/x secret=whsec_SECRETTT":    "24 to 64 bytes",
		"hook ntfy https://e.com/x secret=" + testSecret:        "the keys of ntfy itself are: token",
		"mail email https://e.com from=a@b.c to=d@e.f":          "scheme must be smtps",
		"a ntfy https://e.com/x\na ntfy https://e.com/SECRETTT": `line 2: the name "a" is taken`,
		manyLines(maxDestinations + 1):                          "line 17: more than 16 destinations",
	} {
		_, err := Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRETTT") {
			t.Errorf("%.60q: %v, want %q and no secret", text, err, want)
		}
	}
}

// testSecret is a webhook's secret.
const testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr"

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "d%d ntfy https://e.com/x\n", i)
	}
	return b.String()
}

// FuzzParse: a file of any content is refused or gives destinations within the
// bounds.
func FuzzParse(f *testing.F) {
	f.Add("phone ntfy https://ntfy.example.com/wick kinds=alert,fill picture")
	f.Add("hook webhook https://10.0.0.5/in secret=" + testSecret + " allow-private rate=3 quiet=22:00-07:00")
	f.Add("m email smtp://u:p@h:1 from=a@b to=c@d")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Parse([]byte(text))
		if (err == nil) != (len(all) > 0) || len(all) > maxDestinations {
			t.Fatalf("%q: %d destinations, %v", text, len(all), err)
		}
		for _, d := range all {
			if !nameShape.MatchString(d.Name) || d.Rate < 1 || d.Rate > maxRate || d.Destination == nil || d.Quiet.zone == nil {
				t.Errorf("%q: %+v", text, d)
			}
		}
	})
}
