package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wick/test/harness"
)

// job is one kind of work, done over and over with a rest between.
type job struct {
	name string
	rest time.Duration
	work func(t *target, token string, n int) error
}

var jobs = []job{
	{"charts", 200 * time.Millisecond, soakChart},
	{"orders", 150 * time.Millisecond, soakOrder},
	{"alerts", 150 * time.Millisecond, soakAlert},
	{"streams", 300 * time.Millisecond, soakStream},
	{"logins", 500 * time.Millisecond, func(t *target, _ string, n int) error {
		_, err := t.login("soak", fmt.Sprintf("10.0.%d.%d", n>>8&255, n&255))
		return err
	}},
	{"bad input", 50 * time.Millisecond, soakBad},
}

// soak works for the given time and fails if memory, descriptors or goroutines
// are not flat from its first quarter to its last.
func soak(t *target, length time.Duration) error {
	token, err := t.login("soak", "192.0.2.1")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	var wait sync.WaitGroup
	counts, failures := make([]atomic.Int64, len(jobs)), make([]atomic.Int64, len(jobs))
	last := make([]atomic.Value, len(jobs)) // failure of each, as text
	for i, j := range jobs {
		wait.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := j.work(t, token, n); err != nil {
					failures[i].Add(1)
					last[i].Store(err.Error())
				}
				counts[i].Add(1)
				time.Sleep(j.rest)
			}
		})
	}
	samples, err := follow(ctx, t, length)
	wait.Wait()
	if err != nil {
		return err
	}
	for i, j := range jobs {
		fmt.Printf("%-10s %7d done, %d failed\n", j.name, counts[i].Load(), failures[i].Load())
		if failures[i].Load() > 0 {
			err = errors.Join(err, fmt.Errorf("%s failed, last with %v", j.name, last[i].Load()))
		}
	}
	return errors.Join(err, flat(samples))
}

// follow samples the server a hundred times and prints the start, the middle
// and the end.
func follow(ctx context.Context, t *target, length time.Duration) ([]sample, error) {
	var samples []sample
	tick := time.NewTicker(length / 100)
	defer tick.Stop()
	for {
		s, err := t.sample()
		if err != nil {
			return nil, err
		}
		samples = append(samples, s)
		if n := len(samples); n == 5 || n == 50 || n == 95 {
			fmt.Printf("at %2d %%: %v\n", n, s)
		}
		select {
		case <-ctx.Done():
			return samples, nil
		case <-tick.C:
		}
	}
}

// flat compares the highest of the second quarter with the highest of the last:
// the first quarter fills caches and bounded stores.
func flat(samples []sample) error {
	high := func(part []sample) (h sample) {
		for _, s := range part {
			h = sample{max(h.memory, s.memory), max(h.descriptors, s.descriptors), max(h.goroutines, s.goroutines)}
		}
		return h
	}
	n := len(samples)
	early, late := high(samples[n/4:n/2]), high(samples[3*n/4:])
	fmt.Printf("second quarter at most: %v\nlast quarter at most:   %v\n", early, late)
	switch {
	case late.memory > early.memory+early.memory/8+8<<20:
		return fmt.Errorf("memory grew from %.1f to %.1f MiB", mib(early.memory), mib(late.memory))
	case late.descriptors > early.descriptors+20:
		return fmt.Errorf("descriptors grew from %d to %d", early.descriptors, late.descriptors)
	case late.goroutines > early.goroutines+20:
		return fmt.Errorf("goroutines grew from %d to %d", early.goroutines, late.goroutines)
	}
	fmt.Println("flat")
	return nil
}

// served turns an answer that is not 200 into an error.
func served(text string, status int, err error) (string, error) {
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d", status)
	}
	return text, err
}

func soakChart(t *target, token string, n int) error {
	format := []string{"png", "summary", "both", "series"}[n%4]
	_, err := served(t.call(token, "generate_chart", fmt.Sprintf(`{"symbol":"S%d","format":%q,"bars":%d,"width":%d,"height":400}`, n%50, format, 50+n%300, 400+n%800)))
	return err
}

func soakOrder(t *target, token string, n int) error {
	text, err := served(t.call(token, "place_order", fmt.Sprintf(`{"symbol":"BTCUSDT","side":"buy","type":"limit","quantity":0.01,"price":%d,"client_order_id":"soak-%d"}`, 4+n%3, n)))
	if err != nil || strings.HasPrefix(text, "price_collar") || strings.HasPrefix(text, "rate_limited") {
		return err // the sample's price has moved away, or we are too quick
	}
	_, id, _ := strings.Cut(text, `"order_id":"`)
	id, _, ok := strings.Cut(id, `"`)
	if !ok {
		return fmt.Errorf("place_order answered %.200q", text)
	}
	_, err = served(t.call(token, "cancel_order", `{"order_id":"`+id+`"}`))
	return err
}

// soakAlert sets an alert that fires at once, and now and then reads the
// notifications.
func soakAlert(t *target, token string, n int) error {
	if _, err := served(t.call(token, "set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":1}}`)); err != nil {
		return err
	}
	if n%20 == 0 {
		_, err := served(t.call(token, "get_notifications", `{}`))
		return err
	}
	return nil
}

// soakStream subscribes, opens a stream and leaves after a second.
func soakStream(t *target, token string, _ int) error {
	if _, err := served(t.call(token, "subscribe_notifications", `{}`)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := t.with(token).Stream(ctx, "", func(string, string) { cancel() })
	if harness.Status(err) == 0 && ctx.Err() != nil { // it was we who left
		return nil
	}
	return err
}

// soakBad sends noise to a random address. Any answer will do.
func soakBad(t *target, token string, n int) error {
	paths := []string{"/mcp", "/token", "/register", "/authorize", "/", "/nothing"}
	kinds := []string{"application/json", "application/x-www-form-urlencoded", "text/plain"}
	noise := make([]byte, rand.IntN(4096))
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	if n%2 == 0 {
		noise = []byte(`{"jsonrpc":"2.0","id":` + strings.Repeat("9", n%400) + `,"method":"tools/call","params":{"name":"generate_chart","arguments":{"bars":"` + fmt.Sprint(n) + `"`)
	}
	if n%3 > 0 {
		token = ""
	}
	c := t.as("", fmt.Sprintf("10.1.%d.%d", n>>8&255, n&255))
	c.Token = token
	answer, err := c.Send("POST", paths[n%len(paths)], kinds[n%len(kinds)], io.MultiReader(bytes.NewReader(noise)))
	if err == nil && answer.Status >= 500 && answer.Status != http.StatusServiceUnavailable {
		err = fmt.Errorf("status %d", answer.Status)
	}
	return err
}
