package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"slices"
	"strings"
	"time"
)

const (
	selfSignedFile = "self-signed.pem"
	// Apple's systems refuse a certificate that is valid for more than 825 days.
	selfSignedLife = 820 * 24 * time.Hour
	selfSignedLeft = 30 * 24 * time.Hour
)

// selfSigned returns the certificate kept in dir and its fingerprint. It makes a new one only when there is none, it
// runs out, or it lacks one of the names: a person has to accept each new one on every device.
func selfSigned(dir *dataDir, names []string) (cert tls.Certificate, fingerprint string, err error) {
	path := dir.file(selfSignedFile)
	cert, err = tls.LoadX509KeyPair(path, path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cert, "", fmt.Errorf("read certificate: %w; remove %s to have a new one made", err, path)
	}
	if err != nil || !covers(cert.Leaf, names) {
		if cert, err = newSelfSigned(path, names); err != nil {
			return cert, "", fmt.Errorf("make certificate: %w", err)
		}
	}
	sum := sha256.Sum256(cert.Certificate[0])
	return cert, strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":"), nil
}

func covers(cert *x509.Certificate, names []string) bool {
	if time.Until(cert.NotAfter) < selfSignedLeft {
		return false
	}
	return !slices.ContainsFunc(names, func(n string) bool { return cert.VerifyHostname(bareHost(n)) != nil })
}

// bareHost is a host without port and brackets.
func bareHost(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.Trim(host, "[]")
}

func newSelfSigned(path string, names []string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	t := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "Tabs on " + bareHost(names[len(names)-1])},
		NotBefore:    now.Add(-time.Hour), NotAfter: now.Add(selfSignedLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		// Its own authority, so that it can be installed as trusted, but never one for other names.
		BasicConstraintsValid: true,
	}
	for _, n := range names {
		n = bareHost(n)
		if ip := net.ParseIP(n); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, n)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	if err := writeFile(path, append(certPEM, keyPEM...), 0o600); err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certPEM, keyPEM)
}
