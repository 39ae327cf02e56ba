package trade

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// A record of the journal is
//
//	length uint32 | crc32c uint32 | sequence uint64 | kind uint8 | payload JSON
//
// in little endian. The length counts what follows the checksum, and the
// checksum covers exactly that. The sequence rises by one from record to
// record, which finds lost and doubled blocks that a checksum cannot.
const (
	frameHead  = 8        // length and checksum
	frameFixed = 9        // sequence and kind
	maxRecord  = 64 << 10 // bytes after the checksum; checked before anything is allocated
	sector     = 512      // what a disk writes whole or not at all
	maxReplay  = 1 << 30  // bytes of one file that a start reads
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// kind says what happened. The numbers are on disk: they are never reused.
type kind uint8

const (
	kindHeader        kind = 1  // first record of a file
	kindStarted       kind = 2  // a process opened the store
	kindPlaced        kind = 3  // an order was accepted, and filled if it could be at once
	kindFilled        kind = 4  // a resting order was filled
	kindCancelled     kind = 5  // an order was cancelled
	kindIntent        kind = 6  // an order is about to be sent to a real broker
	kindAnswered      kind = 7  // what the real broker made of it
	kindAlertSet      kind = 8  // an alert waits
	kindAlertGone     kind = 9  // an alert was cancelled
	kindFired         kind = 10 // an alert fired: its notification, and the queues it entered
	kindDrained       kind = 11 // the polling queue was read up to a sequence
	kindDelivered     kind = 12 // queues were delivered up to a sequence each
	kindExpired       kind = 13 // entries past their hour left the queues
	kindSubscribed    kind = 14 // a subscription was made, changed or claimed
	kindUnsubscribed  kind = 15 // a subscription and its queue are gone
	kindTrading       kind = 16 // the trading state changed
	kindOrderRejected kind = 17 // a resting order could not be filled at all
)

var kindNames = map[kind]string{
	kindHeader: "header", kindStarted: "started", kindPlaced: "order_placed", kindFilled: "order_filled",
	kindCancelled: "order_cancelled", kindIntent: "order_intent", kindAnswered: "order_answered",
	kindAlertSet: "alert_set", kindAlertGone: "alert_cancelled", kindFired: "alert_fired",
	kindDrained: "notifications_drained", kindDelivered: "notifications_delivered", kindExpired: "queues_expired",
	kindSubscribed: "subscribed", kindUnsubscribed: "unsubscribed", kindTrading: "trading_state",
	kindOrderRejected: "order_rejected",
}

// appendRecord appends one framed record to b. The payload is the journal's
// own; one that is too long is refused before anything depends on it.
func appendRecord(b []byte, seq uint64, k kind, payload any) ([]byte, error) {
	text, err := json.Marshal(payload)
	if err != nil {
		return b, fmt.Errorf("encode record: %w", err)
	}
	return appendFrame(b, seq, k, text)
}

func appendFrame(b []byte, seq uint64, k kind, payload []byte) ([]byte, error) {
	if len(payload) > maxRecord-frameFixed {
		return b, fmt.Errorf("a record of %d bytes, at most %d are kept", len(payload), maxRecord-frameFixed)
	}
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(frameFixed+len(payload)))
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, seq)
	b = append(append(b, byte(k)), payload...)
	sum := crc32.Checksum(b[start+frameHead:], castagnoli)
	binary.LittleEndian.PutUint32(b[start+4:], sum)
	return b, nil
}

// frame is one decoded record; payload shares memory with what was decoded.
type frame struct {
	seq     uint64
	kind    kind
	payload []byte
	size    int // bytes of the whole record
}

var (
	errShort    = errors.New("the file ends inside the record")
	errLength   = errors.New("the length is impossible")
	errChecksum = errors.New("the checksum does not match")
)

// decodeFrame reads the record at the start of b. It allocates nothing.
func decodeFrame(b []byte) (frame, error) {
	if len(b) < frameHead {
		return frame{}, errShort
	}
	length := binary.LittleEndian.Uint32(b)
	if length < frameFixed || length > maxRecord {
		return frame{}, errLength
	}
	if uint64(len(b)) < frameHead+uint64(length) {
		return frame{}, errShort
	}
	body := b[frameHead : frameHead+int(length)]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return frame{}, errChecksum
	}
	return frame{
		seq: binary.LittleEndian.Uint64(body), kind: kind(body[8]),
		payload: body[frameFixed:], size: frameHead + int(length),
	}, nil
}

// torn tells an unfinished write at the end of a file from damage. data[at:]
// begins with a record that did not decode. It is torn if the file ends inside
// it, or a whole sector of it, or all that is left, is zero (blocks that the
// file system added and never filled), and no record follows.
//
// One case looks torn and is not: a length that was damaged upwards in the last
// record. There the checksum, which does not cover the length, still fits what
// is left of the file.
func torn(data []byte, at int, cause error) bool {
	tail := data[at:]
	if validFollows(tail) || fitsToEnd(tail) {
		return false
	}
	return errors.Is(cause, errShort) || zeroSector(data, at) || allZero(tail)
}

// validFollows looks for a record at every later place. Kind and first byte of
// the payload are looked at first: checksums of all those places would take
// minutes on an unlucky file.
func validFollows(tail []byte) bool {
	const kindAt, payloadAt = frameHead + frameFixed - 1, frameHead + frameFixed
	for i := 1; i+payloadAt < len(tail); i++ {
		if kindNames[kind(tail[i+kindAt])] != "" && tail[i+payloadAt] == '{' {
			if _, err := decodeFrame(tail[i:]); err == nil {
				return true
			}
		}
	}
	return false
}

func fitsToEnd(tail []byte) bool {
	return len(tail) >= frameHead+frameFixed &&
		crc32.Checksum(tail[frameHead:], castagnoli) == binary.LittleEndian.Uint32(tail[4:])
}

func zeroSector(data []byte, at int) bool {
	for start := (at + sector - 1) / sector * sector; start+sector <= len(data); start += sector {
		if allZero(data[start : start+sector]) {
			return true
		}
	}
	return false
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
