package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// health tells that the server answers, and nothing about it.
func (s *Server) health(c echo.Context) error { return c.String(http.StatusOK, "ok\n") }

func (s *Server) metrics(c echo.Context) error {
	promhttp.HandlerFor(s.d.Metrics, promhttp.HandlerOpts{DisableCompression: true}).ServeHTTP(c.Response(), c.Request())
	return nil
}

// meters are what web counts.
type meters struct {
	requests    *prometheus.CounterVec
	duration    prometheus.Histogram
	socketsOpen prometheus.Gauge
}

func newMeters(r *prometheus.Registry) *meters {
	m := &meters{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tabs_http_requests_total", Help: "HTTP requests answered, sockets when they end.",
		}, []string{"route", "status"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tabs_http_request_duration_seconds", Help: "Time to answer an HTTP request, without sockets.",
			Buckets: []float64{0.001, 0.005, 0.02, 0.1, 0.5, 2, 10},
		}),
		socketsOpen: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tabs_sockets_open", Help: "Open websockets.",
		}),
	}
	r.MustRegister(m.requests, m.duration, m.socketsOpen)
	return m
}

// request counts under the route's pattern: a path would make a series of every id.
func (m *meters) request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	if status != http.StatusSwitchingProtocols {
		m.duration.Observe(took.Seconds())
	}
}
