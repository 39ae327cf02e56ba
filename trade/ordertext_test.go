package trade

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"wick/exact"
)

// TestOrderText: appendJSON writes orders with any of their fields set like encoding/json.
func TestOrderText(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		o := new(Order)
		fillFields(rng, reflect.ValueOf(o).Elem())
		want, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.appendJSON(nil); string(got) != string(want) {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestTimeText: times are written as the library's formatter writes them by timeLayout.
func TestTimeText(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		at := Time{time.Unix(rng.Int64N(8e10)-4e10, rng.Int64N(1e9))}
		if got, want := string(at.append(nil)), at.UTC().Format(`"`+timeLayout+`"`); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// fillFields sets about half of the fields of v to random values.
func fillFields(rng *rand.Rand, v reflect.Value) {
	texts := []string{"plain", "o-1", "a \"quoted\" <b>&\\", "new\nline\x00", "grüße \u2028", "bad \xff byte", "\x7f"}
	for i := range v.NumField() {
		f := v.Field(i)
		if rng.IntN(2) == 0 {
			continue
		}
		if f.Kind() == reflect.Pointer {
			f.Set(reflect.New(f.Type().Elem()))
			f = f.Elem()
		}
		switch x := f.Addr().Interface().(type) {
		case *Time:
			x.Time = time.Unix(rng.Int64N(4e9), rng.Int64N(1e9))
		case *exact.Money:
			*x = exact.Product(exact.Decimal(rng.Int64()-rng.Int64()), exact.Decimal(rng.Int64()))
		default:
			switch f.Kind() {
			case reflect.String:
				f.SetString(texts[rng.IntN(len(texts))])
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Int64:
				f.SetInt(rng.Int64() - rng.Int64())
			case reflect.Uint64:
				f.SetUint(rng.Uint64())
			case reflect.Struct:
				fillFields(rng, f)
			default:
				panic("no value for a field of type " + f.Type().String())
			}
		}
	}
}
