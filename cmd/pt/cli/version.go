package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of pt",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
			}{Version, runtime.Version(), runtime.GOOS, runtime.GOARCH}
			if f := a.format(); f == "json" || f == "yaml" {
				return a.printValue(v)
			}
			_, err := fmt.Fprintf(a.Out, "pt %s %s/%s\n", v.Version, v.OS, v.Arch)
			return err
		},
	}
}
