package exact

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0", "0"}, {"-0", "0"}, {"1", "1"}, {"0.1", "0.1"}, {"1.15", "1.15"}, {`"2.50"`, "2.5"},
		{"1e5", "100000"}, {"1E-8", "0.00000001"}, {"123.45e-1", "12.345"}, {"0.00000001", "0.00000001"},
		{"92233720368.54775807", "92233720368.54775807"}, {"-92233720368.54775807", "-92233720368.54775807"},
		{"1.000000000000", "1"}, {"000.5", "0.5"}, {"0e64", "0"},
	} {
		d, err := Parse([]byte(c.in))
		if err != nil || d.String() != c.want {
			t.Errorf("Parse(%s) = %s, %v; want %s", c.in, d, err, c.want)
		}
	}
	for in, want := range map[string]string{
		"true": "no plain number", "five": "no plain number", "market": "no plain number", "one": "no plain number", "e5": "no plain number", "": "no plain number",
		"1e": "exponent", "1e1.5": "exponent", "1e65": "exponent",
		strings.Repeat("１", 64): "no plain number", strings.Repeat("１", 65): "longer than 64 characters", strings.Repeat("1", 65): "longer than 64 characters",
	} {
		if _, err := Parse([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v; want %s", in, err, want)
		}
	}
	for _, in := range []string{
		"", "-", "+1", ".5", "1.", "NaN", "Inf", "-Infinity", "0x10", " 1", "1 ", "1_000", "1,5", "1e", "1e+", "1e99999999999999999999",
		"0.000000001", "1e-9", "92233720368.54775808", "-92233720368.54775808", "1e11", `"`, `""`, `"1`, "null", "true", "[1]", "１",
	} {
		if d, err := Parse([]byte(in)); !errors.Is(err, errDecimal) {
			t.Errorf("Parse(%q) = %s, %v; want a refusal", in, d, err)
		}
	}
}

// TestCents parses every cent amount to a thousand: multiplying floats by 1e8
// and truncating, as others do, gets one in eighteen of them wrong.
func TestCents(t *testing.T) {
	for i := range rounds(100_000) {
		text := new(big.Rat).SetFrac64(int64(i), 100).FloatString(2)
		if d, err := Parse([]byte(text)); err != nil || d != Decimal(i)*1e6 {
			t.Fatalf("Parse(%s) = %d, %v; want %d", text, d, err, i*1e6)
		}
	}
}

func TestFromFloat(t *testing.T) {
	for _, c := range []struct {
		in   float64
		want string
		ok   bool
	}{
		{1.15, "1.15", true}, {64123.1, "64123.1", true}, {0.1 + 0.2, "0.3", true}, {1000000000.1, "1000000000.1", true},
		{1.0 / 3, "0.33333333", true}, {0.000000005, "0.00000001", true}, {1e-9, "0", false}, {0, "0", false}, {-1, "0", false},
		{1e11, "0", false}, {math.NaN(), "0", false}, {math.Inf(1), "0", false},
	} {
		if d, ok := FromFloat(c.in); ok != c.ok || (ok && d.String() != c.want) {
			t.Errorf("FromFloat(%v) = %s, %t; want %s, %t", c.in, d, ok, c.want, c.ok)
		}
	}
}

// FuzzDecimal holds the parser to big.Rat: what it takes is exact, and comes
// back as the same number from its own text.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0", "1.15", `"2.5"`, "-1e-8", "9e10", "0.000000001", "1e", "--1", "92233720368.54775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := Parse([]byte(s))
		if err != nil {
			return
		}
		text := s
		if text[0] == '"' {
			text = text[1 : len(text)-1]
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok || exact.Cmp(new(big.Rat).SetFrac64(int64(d), 1e8)) != 0 {
			t.Fatalf("Parse(%q) = %s, which is not that number", s, d)
		}
		out, err := json.Marshal(d)
		if err != nil || !json.Valid(out) {
			t.Fatalf("%q is written as %q, %v", s, out, err)
		}
		if again, err := Parse(out); err != nil || again != d {
			t.Fatalf("%q is written as %s and read as %s, %v", s, out, again, err)
		}
	})
}

func bigOf(m Money) *big.Int {
	hi, lo := m.magnitude()
	v := new(big.Int).Lsh(new(big.Int).SetUint64(hi), 64)
	v.Or(v, new(big.Int).SetUint64(lo))
	if m.hi < 0 {
		v.Neg(v)
	}
	return v
}

// someDecimal returns numbers of all sizes, the largest and odd ones included.
func someDecimal(r *rand.Rand) Decimal {
	d := Decimal(r.Uint64() >> 1 >> r.IntN(63))
	if r.IntN(20) == 0 {
		d = math.MaxInt64 - Decimal(r.IntN(2))
	}
	return max(d, 1)
}

// halfEven divides in big numbers, rounding half to even.
func halfEven(a, b *big.Int) *big.Int {
	q, m := new(big.Int).DivMod(new(big.Int).Abs(a), b, new(big.Int))
	if c := m.Lsh(m, 1).Cmp(b); c > 0 || (c == 0 && q.Bit(0) == 1) {
		q.Add(q, big.NewInt(1))
	}
	if a.Sign() < 0 {
		q.Neg(q)
	}
	return q
}

// rounds is n, or a tenth of it with -short.
func rounds(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// TestMoney holds products, sums, shares, quotients and texts to math/big.
func TestMoney(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds(50_000) {
		a, b := someDecimal(r), someDecimal(r)
		if r.IntN(2) == 0 {
			a = -a
		}
		m := Product(a, b)
		want := new(big.Int).Mul(big.NewInt(int64(a)), big.NewInt(int64(b)))
		if bigOf(m).Cmp(want) != 0 {
			t.Fatalf("%d * %d = %s, want %s", a, b, bigOf(m), want)
		}
		n := someDecimal(r)
		k := Decimal(r.Uint64N(uint64(n)) + 1)
		share := halfEven(new(big.Int).Mul(want, big.NewInt(int64(k))), big.NewInt(int64(n)))
		if got := bigOf(m.Share(k, n)); got.Cmp(share) != 0 {
			t.Fatalf("%s * %d / %d = %s, want %s", want, k, n, got, share)
		}
		if d, ok := m.Per(n); ok {
			if price := halfEven(want, big.NewInt(int64(n))); price.Cmp(big.NewInt(int64(d))) != 0 {
				t.Fatalf("%s / %d = %d, want %s", want, n, d, price)
			}
		}
		sum, ok := m.Add(Product(b, n))
		wantSum := new(big.Int).Add(want, new(big.Int).Mul(big.NewInt(int64(b)), big.NewInt(int64(n))))
		if fits := wantSum.BitLen() < 128; fits != ok || (ok && bigOf(sum).Cmp(wantSum) != 0) {
			t.Fatalf("sum %s, %t; want %s", bigOf(sum), ok, wantSum)
		}
		text, _ := json.Marshal(m)
		if exact, _ := new(big.Rat).SetString(string(text)); exact.Cmp(new(big.Rat).SetFrac(want, big.NewInt(1e16))) != 0 {
			t.Fatalf("%s is written as %s", want, text)
		}
		var back Money
		if err := json.Unmarshal(text, &back); err != nil || back != m {
			t.Fatalf("%s is read as %s, %v", text, back, err)
		}
	}
}

// TestRounding holds the rounded products to math/big in all Roundings.
func TestRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range rounds(50_000) {
		a, b := someDecimal(r), someDecimal(r)
		exact := new(big.Int).Mul(big.NewInt(int64(a)), big.NewInt(int64(b)))
		floor := new(big.Int).Div(exact, big.NewInt(1e8))
		ceil := new(big.Int).Div(new(big.Int).Add(exact, big.NewInt(1e8-1)), big.NewInt(1e8))
		if got, ok := a.Over(b, HalfEven); ok {
			scaled := new(big.Int).Mul(big.NewInt(int64(a)), big.NewInt(1e8))
			if want := halfEven(scaled, big.NewInt(int64(b))); want.Cmp(big.NewInt(int64(got))) != 0 {
				t.Fatalf("%s / %s = %s, want %s units", a, b, got, want)
			}
		}
		for to, want := range map[Rounding]*big.Int{Down: floor, Up: ceil, HalfEven: halfEven(exact, big.NewInt(1e8))} {
			got, ok := a.Times(b, to)
			if ok != want.IsInt64() || (ok && big.NewInt(int64(got)).Cmp(want) != 0) {
				t.Fatalf("%s * %s rounded %d = %s, %t; want %s units", a, b, to, got, ok, want)
			}
		}
	}
}

func TestMoneySign(t *testing.T) {
	for d, want := range map[Decimal]int{-1: -1, 0: 0, 1: 1, -One: -1, One: 1} {
		if got := d.Money().Sign(); got != want {
			t.Errorf("the sign of %s is %d, want %d", d, got, want)
		}
	}
}

// TestRatio: a sum by what one unit costs, by hand: 10 / 3.2955015 is 3.034439522...
func TestRatio(t *testing.T) {
	for _, c := range []struct {
		m, x string
		to   Rounding
		want string
	}{
		{"10", "3.2955015", Down, "3.03443952"},
		{"10", "3.2955015", Up, "3.03443953"},
		{"0.00000001", "2", HalfEven, "0"},          // half a unit
		{"0.00000003", "2", HalfEven, "0.00000002"}, // one and a half
		{"6", "2", Up, "3"},
	} {
		var m, x Money
		if err := errors.Join(m.UnmarshalJSON([]byte(c.m)), x.UnmarshalJSON([]byte(c.x))); err != nil {
			t.Fatal(err)
		}
		if got, ok := m.Ratio(x, c.to); !ok || got.String() != c.want {
			t.Errorf("%s / %s is %s, %t, want %s", c.m, c.x, got, ok, c.want)
		}
	}
	for _, x := range []Money{{}, {0, 3}} { // zero, and so little that the quotient is beyond 92 billion
		if got, ok := One.Money().Ratio(x, Down); ok {
			t.Errorf("1 / %s is %s, want it out of range", x, got)
		}
	}
}
