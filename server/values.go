package server

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"wick/journal"
)

// This file has the kinds of flags that the flag package lacks: lists, and flags that may
// stand alone or with a value. For one that is boolean and stands alone the flag package
// calls Set, or the function of BoolFunc, with "true".

// alone reports whether a flag may stand without a value.
func alone(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// list is a flag that may be given several times, or once with commas.
type list []string

// String returns the values with commas between them.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set adds the values of one flag.
func (l *list) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

// verifyFlag is --verify: alone it asks for a check of the whole history, with a
// hash also whether that hash is in it.
type verifyFlag struct {
	on   bool
	hash *journal.Hash // nil if none was given
}

// set takes a hash, and what the flag package takes for a boolean.
func (f *verifyFlag) set(text string) error {
	if on, err := strconv.ParseBool(text); err == nil {
		f.on = on
		return nil
	}
	f.on, f.hash = true, new(journal.Hash)
	if err := f.hash.UnmarshalText([]byte(text)); err != nil {
		return fmt.Errorf("write --verify, or --verify HASH with a hash that --audit --head printed: %w", err)
	}
	return nil
}

// recoverFlag is --recover: alone it asks what a recovery would keep, with yes
// it asks for the recovery.
type recoverFlag string

// The values of the flag: not given, given alone, and with yes.
const (
	recoverNo   recoverFlag = ""
	recoverShow recoverFlag = "true"
	recoverYes  recoverFlag = "yes"
)

// String returns what Set was given.
func (f *recoverFlag) String() string { return string(*f) }

// IsBoolFlag lets --recover stand without a value.
func (f *recoverFlag) IsBoolFlag() bool { return true }

// Set takes yes, and what the flag package takes for a boolean.
func (f *recoverFlag) Set(text string) error {
	if text == string(recoverYes) {
		*f = recoverYes
		return nil
	}
	show, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("write --recover to see what can be kept, or --recover=yes to keep it")
	}
	if *f = recoverNo; show {
		*f = recoverShow
	}
	return nil
}

// testFlag is --notify-test: alone it means every destination, with a name that one.
type testFlag string

// testAll is what the flag package passes for a flag without a value.
const testAll testFlag = "true"

// set takes the name of a destination. "true", which stands for no value, means all of
// them.
func (f *testFlag) set(text string) error {
	if text == "" {
		return errors.New("write --notify-test for every destination, or --notify-test NAME for one")
	}
	if *f = testFlag(text); text == "false" {
		*f = ""
	}
	return nil
}
