package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"
)

// hostList is the names that a Host header may have. Without it a page of a stranger could point its own name at us
// (DNS rebinding) and be of the same origin.
type hostList []hostName

type hostName struct{ name, port string } // port "" is any; a name of "*.x" is any one label before x

func newHostList(hosts []string) hostList {
	var l hostList
	for _, h := range hosts {
		name, port := splitHost(h)
		l = append(l, hostName{name, port})
	}
	return l
}

func (l hostList) allows(host string) bool {
	name, port := splitHost(host)
	for _, h := range l {
		if h.port != "" && h.port != port {
			continue
		}
		if h.name == name {
			return true
		}
		if parent, ok := strings.CutPrefix(h.name, "*."); ok {
			if _, rest, ok := strings.Cut(name, "."); ok && rest == parent {
				return true
			}
		}
	}
	return false
}

// splitHost is net.SplitHostPort for hosts with and without a port, with the name in lower case and no brackets.
func splitHost(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, ""
	}
	return strings.ToLower(strings.Trim(name, "[]")), port
}

// isLoopbackHost tells whether only this machine can mean itself by host.
func isLoopbackHost(host string) bool {
	name, _ := splitHost(host)
	if name == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.IsLoopback()
}

// host is the host the browser asked for.
func (s *Server) host(r *http.Request) string {
	if h := r.Header.Get("X-Forwarded-Host"); h != "" && s.d.BehindProxy {
		return h
	}
	return r.Host
}

// scheme is what the browser speaks.
func (s *Server) scheme(r *http.Request) string {
	if p := r.Header.Get("X-Forwarded-Proto"); s.d.BehindProxy && (p == "https" || p == "http") {
		return p
	}
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// origin is what the Origin header of a request from our own page says.
func (s *Server) origin(r *http.Request) string { return s.scheme(r) + "://" + s.host(r) }

// sameOrigin compares an Origin header with our own origin. "null" and "" are nobody's.
func (s *Server) sameOrigin(r *http.Request, header string) bool {
	u, err := url.Parse(header)
	if err != nil || u.Host == "" || u.Path != "" {
		return false
	}
	return u.Scheme == s.scheme(r) && canonicalHost(u.Host, u.Scheme) == canonicalHost(s.host(r), u.Scheme)
}

// canonicalHost leaves out the default port, as browsers do in Origin and some proxies do not in Host.
func canonicalHost(host, scheme string) string {
	name, port := splitHost(host)
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return name
	}
	return net.JoinHostPort(name, port)
}

// remote is the address of whoever asks, without the port.
func (s *Server) remote(r *http.Request) string {
	if s.d.BehindProxy {
		// The last entry is the one our own proxy wrote; those before it are the caller's to invent.
		all := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if last := strings.TrimSpace(all[len(all)-1]); last != "" {
			return last
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "local"
	}
	return host
}

// refuseStrangers answers only requests for one of our own names.
func (s *Server) refuseStrangers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if !s.hosts.allows(s.host(r)) {
			return errForbidden("this server does not answer to the host name of this request",
				"start it with --host NAME if the name is its own")
		}
		if strings.Contains(r.URL.RawQuery, "pt_live_") {
			return errInvalid("a key in an address ends up in logs and histories, and is refused",
				"send it as: Authorization: Bearer KEY")
		}
		return next(c)
	}
}
