# ST_REQUIRE_FLAGS(FLAGS, OPTION)
# -------------------------------
# Ends configure when the compiler can't build and link a program with FLAGS,
# which OPTION of configure asked for.
AC_DEFUN([ST_REQUIRE_FLAGS],
[AC_MSG_CHECKING([whether $CC takes $1])
st_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS $1"
AC_LINK_IFELSE([AC_LANG_PROGRAM()],
	[AC_MSG_RESULT([yes])],
	[AC_MSG_RESULT([no])
	AC_MSG_ERROR([$2 needs a compiler that takes $1 (config.log says more)])])
CFLAGS=$st_saved_CFLAGS
])

# ST_TEST_LIBRARY(PREFIX, MODULE)
# -------------------------------
# Looks for a library that only the tests use. One that is missing goes to
# test_libs_missing: the program builds all the same, `make check` names it.
AC_DEFUN([ST_TEST_LIBRARY],
[PKG_CHECK_MODULES([$1], [$2], [], [test_libs_missing="$test_libs_missing $2"])
])

# ST_BPF
# ------
# Looks for what the program in the kernel is made with: a clang that compiles for
# BPF, bpftool, libbpf. --with-bpf=yes insists, no does without, auto takes what is
# there. bpf_missing is what is not.
AC_DEFUN([ST_BPF],
[AC_ARG_WITH([bpf],
	[AS_HELP_STRING([--with-bpf=auto|yes|no],
		[read tasks by a program in the kernel, too (needs clang, bpftool, libbpf)])],
	[], [with_bpf=auto])
bpf_missing=
AS_IF([test "x$with_bpf" = xno], [bpf_missing='--with-bpf=no'], [
	st_sbin=$PATH$PATH_SEPARATOR/usr/sbin$PATH_SEPARATOR/sbin
	PKG_CHECK_MODULES([LIBBPF], [libbpf >= 0.8], [], [bpf_missing="$bpf_missing libbpf"])
	AC_PATH_PROGS([BPFTOOL], [bpftool], [], [$st_sbin])
	AS_IF([test "x$BPFTOOL" = x], [bpf_missing="$bpf_missing bpftool"])
	AC_PATH_PROGS([CLANG], [clang])
	AS_IF([test "x$CLANG" = x], [bpf_missing="$bpf_missing clang"])
	# For another machine clang does not look where this one has its asm/ headers.
	st_multiarch=`$CC -print-multiarch 2>/dev/null`
	BPF_CPPFLAGS="${LIBBPF_CFLAGS}"
	AS_IF([test "x$st_multiarch" != x && test -d "/usr/include/$st_multiarch"],
		[BPF_CPPFLAGS="$BPF_CPPFLAGS -idirafter /usr/include/$st_multiarch"])
	AS_IF([test "x$bpf_missing" = x], [
		AC_MSG_CHECKING([whether $CLANG compiles for BPF])
		AS_IF([printf '#include <linux/bpf.h>\n#include <bpf/bpf_helpers.h>\n' |
			$CLANG -target bpf $BPF_CPPFLAGS -xc -c - -o conftest.bpf.o >&AS_MESSAGE_LOG_FD 2>&1],
			[AC_MSG_RESULT([yes])],
			[AC_MSG_RESULT([no])
			bpf_missing=' clang for BPF'])
		rm -f conftest.bpf.o])
	AS_IF([test "x$with_bpf" = xyes && test "x$bpf_missing" != x],
		[AC_MSG_ERROR([--with-bpf=yes needs:$bpf_missing])])])
AC_SUBST([BPF_CPPFLAGS])
AM_CONDITIONAL([BPF], [test "x$bpf_missing" = x])
AS_IF([test "x$bpf_missing" = x],
	[AC_DEFINE([BPF_BUILT], [1], [Whether the bpf source is built.])])
AC_DEFINE_UNQUOTED([BPF_MISSING], ["`echo $bpf_missing`"],
	[What the bpf source was not built for want of; empty: it was.])
])

# ST_MICROHTTPD
# -------------
# Looks for libmicrohttpd, which answers where metrics are asked for. --with-microhttpd=yes
# insists, no does without, auto takes what is there.
AC_DEFUN([ST_MICROHTTPD],
[AC_ARG_WITH([microhttpd],
	[AS_HELP_STRING([--with-microhttpd=auto|yes|no],
		[answer with metrics over HTTP (needs libmicrohttpd)])],
	[], [with_microhttpd=auto])
st_microhttpd=no
AS_IF([test "x$with_microhttpd" != xno],
	[PKG_CHECK_MODULES([MICROHTTPD], [libmicrohttpd >= 0.9.71],
		[st_microhttpd=yes],
		[AS_IF([test "x$with_microhttpd" = xyes],
			[AC_MSG_ERROR([--with-microhttpd=yes needs libmicrohttpd])])])])
AM_CONDITIONAL([MICROHTTPD], [test "x$st_microhttpd" = xyes])
AS_IF([test "x$st_microhttpd" = xyes],
	[AC_DEFINE([MICROHTTPD_BUILT], [1], [Whether metrics over HTTP are built in.])])
])

# ST_ZSTD
# -------
# Looks for libzstd, by which closed segments of recordings are compact. --with-zstd=yes
# insists, no does without, auto takes what is there.
AC_DEFUN([ST_ZSTD],
[AC_ARG_WITH([zstd],
	[AS_HELP_STRING([--with-zstd=auto|yes|no],
		[compress closed segments of recordings, and read such (needs libzstd)])],
	[], [with_zstd=auto])
st_zstd=no
AS_IF([test "x$with_zstd" != xno],
	[PKG_CHECK_MODULES([ZSTD], [libzstd >= 1.4], [st_zstd=yes],
		[AS_IF([test "x$with_zstd" = xyes],
			[AC_MSG_ERROR([--with-zstd=yes needs libzstd])])])])
AS_IF([test "x$st_zstd" = xyes],
	[AC_DEFINE([ZSTD_BUILT], [1], [Whether libzstd is built in.])])
])

# ST_CC32
# -------
# Whether the compiler makes 32-bit programs for x86, without any library: one test has such a load.
AC_DEFUN([ST_CC32],
[AC_MSG_CHECKING([whether $CC makes 32-bit programs for x86])
st_cc32=no
AS_IF([echo 'void _start(void) { __asm__("int $0x80"); }' >conftest.c &&
	$CC -m32 -O1 -ffreestanding -fno-pie -nostdlib -static -no-pie conftest.c -o conftest.32 \
		>&AS_MESSAGE_LOG_FD 2>&1 && test "x$enable_sanitizers" != xyes],
	[st_cc32=yes])
rm -f conftest.c conftest.32
AC_MSG_RESULT([$st_cc32])
AM_CONDITIONAL([CC32], [test "x$st_cc32" = xyes])
])
