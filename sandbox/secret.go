package sandbox

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// A secret is secretMark and 40 characters of base32: 168 random bits, then a CRC-32 that makes a typo fail before
// anything is looked up.
const (
	secretMark        = "pt_live_"
	secretRandomBytes = 21
	secretPrefixChars = len(secretMark) + 8 // 40 of the random bits: enough to tell keys apart, not to guess one
)

// The alphabet of ULIDs, in lower case: no letter is mistaken for another.
var secretEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func newSecret() string {
	b := make([]byte, secretRandomBytes)
	rand.Read(b) // never fails, says its documentation
	return withChecksum(b)
}

func withChecksum(random []byte) string {
	sum := crc32.ChecksumIEEE(random)
	return secretMark + secretEncoding.EncodeToString(binary.BigEndian.AppendUint32(random[:len(random):len(random)], sum))
}

// checkSecret tells whether s has the form and checksum of a secret.
func checkSecret(s string) bool {
	body, ok := strings.CutPrefix(s, secretMark)
	if !ok || len(body) != secretEncoding.EncodedLen(secretRandomBytes+crc32.Size) {
		return false
	}
	b, err := secretEncoding.DecodeString(body)
	if err != nil || len(b) != secretRandomBytes+crc32.Size {
		return false
	}
	sum := binary.BigEndian.Uint32(b[secretRandomBytes:])
	return sum == crc32.ChecksumIEEE(b[:secretRandomBytes])
}

func secretPrefix(s string) string { return s[:secretPrefixChars] }

// hashSecret is a plain SHA-256: with 168 random bits there is nothing for a slow hash to protect.
func hashSecret(s string) [32]byte { return sha256.Sum256([]byte(s)) }
