package modeltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// mean is the average of numbers to eight decimals, nil of none.
func mean(list []num) num {
	if len(list) == 0 {
		return nil
	}
	sum := new0()
	for _, x := range list {
		sum = add(sum, x)
	}
	return nearest(div(sum, whole(int64(len(list)))), unit)
}

// average is a mean over numbers in one line: how many, the mean and the largest.
func average(list []num) string {
	if len(list) == 0 {
		return "0 null null"
	}
	most := list[0]
	for _, x := range list {
		most = higher(most, x)
	}
	return fmt.Sprint(len(list), " ", show(mean(list)), " ", show(nearest(most, unit)))
}

// reportLine sums trades up, which are in the order of their ends.
func reportLine(name string, trips []*trip) string {
	var all, won, lost, rs, heat, favour, back []num
	fees, sum, peak, fell := new0(), new0(), new0(), new0()
	for _, t := range trips {
		all, fees, back = append(all, t.profit), add(fees, t.fees), append(back, sub(t.best, t.profit))
		sum = add(sum, t.profit)
		peak = higher(peak, sum)
		fell = higher(fell, sub(peak, sum))
		if r := t.r(); r != nil {
			rs = append(rs, r)
		}
		switch t.profit.Sign() {
		case 1:
			won, heat = append(won, t.profit), append(heat, neg(t.worst))
		case -1:
			lost, favour = append(lost, neg(t.profit)), append(favour, t.best)
		}
	}
	total := func(list []num) num {
		x := new0()
		for _, y := range list {
			x = add(x, y)
		}
		return x
	}
	var factor num
	if loss := nearest(total(lost), unit); loss.Sign() > 0 {
		factor = nearest(div(total(won), loss), unit)
	}
	return fmt.Sprint(name, ": ", len(trips), " ", len(won), " ", len(lost), " made ", show(sum), " fees ", show(fees), " rate ", show(nearest(div(whole(int64(len(won))), whole(int64(len(trips)))), unit)),
		" win ", show(mean(won)), " loss ", show(mean(lost)), " factor ", show(factor), " expects ", show(mean(all)), " fell ", show(fell),
		" r ", average(rs), " heat ", average(heat), " favour ", average(favour), " back ", average(back))
}

// filter makes up arguments by which a report is of some trades alone.
func (s *scene) filter() map[string]any {
	second := func() string {
		at := s.now
		if n := len(s.trips); n > 0 {
			at = s.trips[s.rand.IntN(n)].endedAt
		}
		return time.UnixMilli(at).UTC().Format(time.RFC3339)
	}
	all := map[string]any{"symbol": s.symbols[s.rand.IntN(len(s.symbols))], "tag": []string{"breakout", "fade"}[s.rand.IntN(2)], "from": second(), "to": second()}
	for _, name := range []string{"symbol", "tag", "from", "to"} {
		if s.rand.IntN(3) > 0 {
			delete(all, name)
		}
	}
	return all
}

// passes reports whether a filter wants a trade.
func (t *trip) passes(filter map[string]any) bool {
	is := func(name, value string) bool { return filter[name] == nil || filter[name] == value }
	at := func(name string) int64 {
		text, _ := filter[name].(string)
		end, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return 0
		}
		return end.UnixMilli()
	}
	return is("symbol", t.opened.symbol) && is("tag", t.opened.tag) && t.endedAt >= at("from") && (filter["to"] == nil || t.endedAt < at("to"))
}

// compareReport holds a report of the trades that pass a filter against those of the model. The first
// hours of the first day are in another month in places west of Greenwich.
func (s *scene) compareReport(by string, filter map[string]any) {
	arguments := map[string]any{"view": "report", "by": by}
	maps.Copy(arguments, filter)
	zone := time.UTC
	if by == "month" && s.rand.IntN(2) == 0 {
		zone, _ = time.LoadLocation("America/Los_Angeles")
		arguments["timezone"] = zone.String()
	}
	texts, err := s.call("get_orders", arguments)
	if err != nil {
		s.t.Fatal(err)
	}
	type mean struct {
		Trades        int
		Average, Most *json.Number
	}
	type group struct {
		Group                string
		Trades, Wins, Losses int
		Profit, Fees         json.Number
		Rate                 json.Number  `json:"win_rate"`
		Win                  *json.Number `json:"average_win"`
		Loss                 *json.Number `json:"average_loss"`
		Factor               *json.Number `json:"profit_factor"`
		Expects              json.Number  `json:"expectancy"`
		Drawdown             struct{ Closed json.Number }
		R                    mean
		Heat                 mean `json:"heat_of_winners"`
		Favour               mean `json:"favor_of_losers"`
		Back                 mean `json:"given_back"`
	}
	var reply struct{ Groups, All []group }
	if err := json.Unmarshal(texts[0], &reply); err != nil {
		s.t.Fatal(err)
	}
	or := func(n *json.Number) string {
		if n == nil {
			return "null"
		}
		return n.String()
	}
	var got, want []string
	for _, g := range append(reply.Groups, reply.All...) {
		a := func(m mean) string { return fmt.Sprint(m.Trades, " ", or(m.Average), " ", or(m.Most)) }
		got = append(got, fmt.Sprint(g.Group, ": ", g.Trades, " ", g.Wins, " ", g.Losses, " made ", g.Profit, " fees ", g.Fees, " rate ", g.Rate, " win ", or(g.Win), " loss ", or(g.Loss),
			" factor ", or(g.Factor), " expects ", g.Expects, " fell ", g.Drawdown.Closed, " r ", a(g.R), " heat ", a(g.Heat), " favour ", a(g.Favour), " back ", a(g.Back)))
	}
	groups := make(map[string][]*trip)
	var wanted []*trip
	for _, t := range s.trips {
		if t.passes(filter) {
			name := map[string]string{"month": time.UnixMilli(t.endedAt).In(zone).Format("2006-01"), "symbol": t.opened.symbol, "tag": t.opened.tag}[by]
			wanted, groups[name] = append(wanted, t), append(groups[name], t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		want = append(want, reportLine(name, groups[name]))
	}
	if by == "month" {
		slices.Reverse(want) // the newest first
	}
	if len(wanted) > 0 {
		want = append(want, reportLine("", wanted))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("report by %s of %v\n got %s\nwant %s", by, arguments, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}
