//! The screen and the settings that a page meets.

use serde_json::{Value, json};

/// Which colours a person prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Dark text on a light ground.
    Light,
    /// Light text on a dark ground.
    Dark,
}

/// What a page is shown on.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Which colours a person prefers.
    pub scheme: Scheme,
    /// Shows the page as it is printed.
    pub is_printed: bool,
}

impl Scene {
    /// An ordinary screen.
    pub const DESK: Scene =
        Scene { width: 1280, height: 900, scheme: Scheme::Light, is_printed: false };

    /// An ordinary screen in dark colours.
    pub const NIGHT: Scene = Scene { scheme: Scheme::Dark, ..Scene::DESK };

    /// A small telephone.
    pub const PHONE: Scene = Scene { width: 360, height: 740, ..Scene::DESK };

    /// A printed page of about the width of A4.
    pub const PAPER: Scene = Scene { width: 720, is_printed: true, ..Scene::DESK };

    /// The commands that set the scene.
    pub(crate) fn commands(self) -> [(&'static str, Value); 2] {
        let Scene { width, height, .. } = self;
        let scheme = match self.scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        let media = json!({
            "media": if self.is_printed { "print" } else { "" },
            "features": [{"name": "prefers-color-scheme", "value": scheme}],
        });
        [("Emulation.setDeviceMetricsOverride", metrics), ("Emulation.setEmulatedMedia", media)]
    }
}
