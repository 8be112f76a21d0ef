// Package image unpacks base images: a root as a tarball, what docker save writes, or an OCI layout as a tarball. Unpack
// is its main function. What it reads comes from anybody: nothing is written outside of the directory it is given,
// whatever links the archive holds, no device is made, and size and number of files are bounded.
package image
