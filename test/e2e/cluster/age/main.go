// Command age lets a log on a real etcd grow old: it appends records, takes a
// snapshot of the largest size whenever one is due, and prints the most that etcd's
// database had on disk meanwhile.
//
//	go run ./age -mib 600
package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"wick/cluster"
	"wick/e2e/cluster/site"
	"wick/internal/journal"
	"wick/test/harness"
)

func main() {
	log.SetFlags(0)
	mib := flag.Int("mib", 600, "how much is appended, in MiB")
	state := flag.Int("state", 46, "the size of each snapshot, in MiB; it cannot be compressed")
	flag.Parse()
	dir, err := os.MkdirTemp("", "wick-age")
	if err != nil {
		log.Fatal(err)
	}
	s := &site.Site{Dir: dir}
	err = grow(s, *mib, *state)
	s.Stop()
	os.RemoveAll(dir)
	if err != nil {
		log.Fatal(err)
	}
}

// blob is a state of random bytes, which stands for a book of the largest size.
type blob struct{ size int }

func (b blob) Restore(string, uint64, []byte) error { return nil }
func (b blob) Decode(byte, []byte) (any, error)     { return nil, nil }
func (b blob) Apply(uint64, byte, any) error        { return nil }
func (b blob) Snapshot() (uint64, func() ([]byte, error)) {
	return 0, func() ([]byte, error) { return json.Marshal(map[string]string{"state": noise(b.size)}) }
}

// noise returns a text of random bytes that holds about size bytes of them.
func noise(size int) string {
	b := make([]byte, size)
	rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}

func grow(s *site.Site, mib, state int) error {
	url, err := startEtcd(s)
	if err != nil {
		return err
	}
	n, err := cluster.New(cluster.Options{Endpoints: []string{url}, Store: "age", Secret: []byte(strings.Repeat("s", 32)), Advertise: "http://127.0.0.1:1"})
	if err != nil {
		return err
	}
	defer n.Close()
	book := blob{state << 20}
	if _, err := n.Read(book); err != nil {
		return err
	}
	if _, err := n.Follow(context.Background(), book); err != nil {
		return err
	}
	seq, err := n.Read(book)
	if err != nil {
		return err
	}
	var most, snapshots int
	for done := range mib {
		var records []journal.Record
		for range 32 {
			r, err := journal.NewRecord(7, map[string]string{"text": noise(24 << 10)}) // 32 KiB of text
			if err != nil {
				return err
			}
			records = append(records, r)
		}
		due, err := n.Append(seq+1, records)
		if err != nil {
			return err
		}
		seq += uint64(len(records))
		if due {
			_, encode := book.Snapshot()
			text, err := encode()
			if err == nil {
				err = n.Snapshot(text)
			}
			if err != nil {
				return err
			}
			snapshots++
		}
		size, err := databaseSize(url)
		if err != nil {
			return err
		}
		if size > most {
			most = size
			fmt.Printf("after %d MiB and %d snapshots: %.1f MiB on disk\n", done+1, snapshots, float64(most)/(1<<20))
		}
	}
	fmt.Printf("%d MiB in %d records, %d snapshots of %d MiB: at most %.1f MiB on disk\n", mib, seq, snapshots, state, float64(most)/(1<<20))
	return nil
}

// startEtcd starts one member with the quota that etcd has by itself.
func startEtcd(s *site.Site) (url string, err error) {
	free, err := harness.FreePorts(2)
	if err != nil {
		return "", err
	}
	url, peer := "http://"+free[0], free[1]
	_, err = s.Run("etcd", "/usr/bin/etcd", "--data-dir", s.Dir+"/etcd", "--listen-client-urls", url, "--advertise-client-urls", url,
		"--listen-peer-urls", "http://"+peer, "--initial-advertise-peer-urls", "http://"+peer, "--initial-cluster", "default=http://"+peer)
	for range 100 {
		if _, err = databaseSize(url); err == nil {
			return url, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return url, err
}

// databaseSize returns what etcd's database takes on disk, in bytes.
func databaseSize(url string) (int, error) {
	response, err := http.Post(url+"/v3/maintenance/status", "application/json", strings.NewReader("{}"))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	var status struct {
		Size int `json:"dbSize,string"`
	}
	err = json.NewDecoder(response.Body).Decode(&status)
	return status.Size, err
}
